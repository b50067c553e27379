#!/usr/bin/env python3
"""Do the agents themselves list the sessions that agf lists? Run by hand:

    python3 tests/agents/compare.py AGF HOME [AGENT ...]

HOME is a home with stores of the agents (a copy: some of them migrate their stores when they start); AGF the program. The agents
must be on PATH; those that are missing are left out. Each is asked in every directory in which agf knows a session of it, with
HOME and PATH as its whole environment. opencode lists by project, which it knows by the repository: the directories must exist. Prints, for each agent, the sessions only one side knows, and exits with 1 if there are any.

Child sessions and what was archived are not in the agents' own lists, and are left out of the comparison.
Seen to agree: opencode 1.18.33, kilo 7.7.7, qwen 0.24.4 (npm, 2026-12-01). The command of kimi is that of 2.1.0.
"""
import json
import os
import re
import subprocess
import sys

# How to ask, and what an id looks like in the answer.
LISTS = {
    "opencode": (["opencode", "session", "list", "--format", "json"], r"ses_[0-9A-Za-z]+"),
    "kilo": (["kilo", "session", "list", "--all", "--format", "json"], r"ses_[0-9A-Za-z]+"),
    "qwen": (["qwen", "sessions", "list"], r"[0-9a-f]{8}-[0-9a-f-]{27}"),
    "kimi": (["kimi", "session", "list"], r"session_[0-9a-f-]{36}"),
}


def run(command, home, cwd):
    env = {"HOME": home, "PATH": os.environ["PATH"], "AGF_CACHE_DIR": os.path.join(home, ".agf-compare")}
    done = subprocess.run(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    return done.stdout.decode("utf-8", "replace")


def known(agf, home, agent):
    """The sessions agf would offer to resume, with their directories."""
    command = [agf, "search", "--agent", agent, "--include-non-interactive", "--limit", "200"]
    answer = json.loads(run(command, home, home))
    sessions = answer["data"]["sessions"] if answer["ok"] else []
    wanted = [s for s in sessions if not s["parent_session_id"] and not s["archived"] and s["resume_kind"] == "exact"]
    return {s["session_id"]: s["project_path"] for s in wanted}


def listed(agent, home, directories):
    command, pattern = LISTS[agent]
    found = set()
    for directory in directories:
        cwd = directory if os.path.isdir(directory) else home
        found.update(re.findall(pattern, run(command, home, cwd)))
    return found


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    agf, home = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    different = False
    for agent in sys.argv[3:] or LISTS:
        ours = known(agf, home, agent)
        try:
            theirs = listed(agent, home, sorted(set(ours.values())) or [home])
        except FileNotFoundError:
            print(f"{agent}: not installed")
            continue
        only_ours, only_theirs = set(ours) - theirs, theirs - set(ours)
        different |= bool(only_ours or only_theirs)
        print(f"{agent}: {len(ours)} known to agf, {len(theirs)} listed by the agent")
        print("".join(f"  only agf: {i} in {ours[i]}\n" for i in sorted(only_ours)), end="")
        print("".join(f"  only {agent}: {i}\n" for i in sorted(only_theirs)), end="")
    sys.exit(different)


if __name__ == "__main__":
    main()
