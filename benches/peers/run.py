#!/usr/bin/env python3
"""agf beside its peers on one made-up history, in one run: build, questions, freshness, many processes, damage.

    python3 benches/peers/run.py [SESSIONS]        (default 10000; needs cargo, npm and network for the first run)

Each tool has a copy-on-write view of the same stores: a home of its own whose `.claude` and `.codex` are links to one history, so
that no tool's cache is another's. What is missing is installed below WORK (default: a directory beside the target directory).
Every answer is checked: a row says how often the right session was found. Times are medians of whole processes, CPU is user and
system of the process and its children. Standard library only.
"""
import json, os, random, resource, shutil, statistics, subprocess, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = os.path.abspath(os.environ.get("WORK", os.path.join(ROOT, "target", "peers")))
SESSIONS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
SCALE = os.environ.get("SCALE", "0.3")


def sh(*cmd, **kw):
    return subprocess.run(cmd, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **kw)


def install():
    """The tools that can be had, by name: how to ask them for a word, and where they keep their index."""
    os.makedirs(WORK, exist_ok=True)
    sh("cargo", "build", "--release", "--example", "corpus", cwd=ROOT)
    sh("cargo", "build", "--release", cwd=ROOT)
    tools = {"agf": lambda w: [os.path.join(ROOT, "target/release/agf"), "search", w, "--include-content"]}
    fr = os.path.join(WORK, "fr/bin/fr")
    if not os.path.exists(fr):
        sh(sys.executable, "-m", "venv", os.path.join(WORK, "fr"))
        subprocess.run([os.path.join(WORK, "fr/bin/pip"), "install", "-q", "fast-resume"])
    deja = os.path.join(WORK, "deja/node_modules/@vshulcz/deja-vu-linux-amd64/bin/deja")
    if not os.path.exists(deja):
        os.makedirs(os.path.join(WORK, "deja"), exist_ok=True)
        subprocess.run(["npm", "i", "--silent", "@vshulcz/deja-vu-linux-amd64"], cwd=os.path.join(WORK, "deja"))
    old = os.path.join(WORK, "agf15/bin/agf")
    if not os.path.exists(old):
        subprocess.run(["cargo", "install", "-q", "agf", "--version", "0.15.1", "--root", os.path.join(WORK, "agf15")])
    if os.path.exists(fr):
        tools["fast-resume"] = lambda w: [fr, "--json", w]
    if os.path.exists(deja):
        tools["deja"] = lambda w: [deja, "search", "--json", w]
    if os.path.exists(old):
        tools["agf-0.15"] = lambda w: [old, "search", w, "--include-summaries"]
    if shutil.which("rg"):
        tools["rg"] = lambda w: [shutil.which("rg"), "-l", "-F", w, ".claude/", ".codex/"]
    return tools


def env(tool):
    return {"PATH": os.environ["PATH"], "HOME": os.path.join(WORK, "homes", tool)}


def ask(tool, command, timeout=600):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    try:
        out = subprocess.run(command, env=env(tool), cwd=env(tool)["HOME"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=timeout)
        text, code = out.stdout.decode("utf-8", "replace"), out.returncode
    except subprocess.TimeoutExpired:
        text, code = "", -1
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, text, code


def history():
    store = os.path.join(WORK, "history")
    shutil.rmtree(store, ignore_errors=True)
    out = subprocess.run([os.path.join(ROOT, "target/release/examples/corpus"), store, str(SESSIONS), SCALE], check=True, capture_output=True, text=True).stdout
    print(out.splitlines()[0])
    return store, out.split("; ")[1].split()[0], out.split("stands only in ")[1].split()[0]


def homes(tools, store):
    shutil.rmtree(os.path.join(WORK, "homes"), ignore_errors=True)
    for tool in tools:
        home = env(tool)["HOME"]
        os.makedirs(home)
        for name in (".claude", ".codex"):
            os.symlink(os.path.join(store, name), os.path.join(home, name))


def size(path):
    return sum(os.lstat(os.path.join(d, f)).st_size for d, _, fs in os.walk(path) for f in fs)


def transcripts(store):
    base = os.path.join(store, ".claude/projects")
    return sorted(os.path.join(d, f) for d, _, fs in os.walk(base) for f in fs if f.endswith(".jsonl"))


def line(sid, word, n):
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + ".%03dZ" % (n % 1000)
    return json.dumps({"type": "user", "uuid": "peer-%s" % word, "cwd": "/w", "sessionId": sid, "timestamp": stamp, "message": {"role": "user", "content": "peer " + word}}) + "\n"


def row(what, tool, walls, cpus, right, of):
    print("%-34s %-12s wall %8.1f ms  cpu %8.1f ms  right %d/%d" % (what, tool, statistics.median(walls) * 1e3, statistics.median(cpus) * 1e3, right, of), flush=True)


def questions(what, tool, command, rounds, change=None):
    walls, cpus, right = [], [], 0
    for n in range(rounds):
        word, good = change(n) if change else (None, None)
        wall, cpu, text, _ = ask(tool, command(word) if change else command(None))
        walls.append(wall)
        cpus.append(cpu)
        right += good(text) if good else 1
    row(what, tool, walls, cpus, right, rounds)


def main():
    tools = install()
    store, needle, needle_id = history()
    homes(tools, store)
    files = transcripts(store)
    big = max(files, key=os.path.getsize)
    for tool, command in tools.items():
        wall, cpu, text, _ = ask(tool, command(needle), 1800)
        row("first question (build)", tool, [wall], [cpu], needle_id in text, 1)
        kept = size(env(tool)["HOME"])
        print("%-34s %-12s %.1f MB, %.1f %% of the source" % ("index", tool, kept / 1e6, 100 * kept / max(1, size(store))))
    for tool, command in tools.items():
        ask(tool, command(needle))
        walls, cpus, right = [], [], 0
        for _ in range(9):
            wall, cpu, text, _ = ask(tool, command(needle))
            walls.append(wall)
            cpus.append(cpu)
            right += needle_id in text
        row("nothing changed", tool, walls, cpus, right, 9)
    for tool, command in tools.items():
        tag = "zq" + tool.replace("-", "").replace(".", "")

        def appended(n, path=big):
            word, sid = "%sapp%d" % (tag, n), os.path.basename(path)[:-6]
            with open(path, "a") as f:
                f.write(line(sid, word, n))
            return word, lambda t: sid in t

        def made(n):
            word, sid = "%snew%d" % (tag, n), "%08x-2222-4333-8444-%012x" % (n, random.getrandbits(48))
            with open(os.path.join(os.path.dirname(big), sid + ".jsonl"), "w") as f:
                f.write(line(sid, word, n))
            return word, lambda t: sid in t

        def deleted(n):
            word, good = made(1000 + n)
            ask(tool, command(word))
            for f in os.listdir(os.path.dirname(big)):
                path = os.path.join(os.path.dirname(big), f)
                if word in open(path, errors="replace").read(4096):
                    os.remove(path)
                    sid = f[:-6]
                    return word, lambda t: sid not in t
            return word, lambda t: False

        questions("after one appended line", tool, command, 7, appended)
        questions("after one new session", tool, command, 5, made)
        questions("after one deleted session", tool, command, 5, deleted)
    for tool, command in tools.items():
        with open(big, "a") as f:
            f.write(line(os.path.basename(big)[:-6], "zqeight" + tool[:2], 1))
        start = time.perf_counter()
        many = [subprocess.Popen(command("zqeight" + tool[:2]), env=env(tool), cwd=env(tool)["HOME"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(8)]
        right = sum(os.path.basename(big)[:-6] in p.communicate()[0].decode("utf-8", "replace") for p in many)
        row("8 processes at once", tool, [time.perf_counter() - start], [0], right, 8)
    for how in ("truncated", "bit-flipped"):
        for tool, command in tools.items():
            index = [os.path.join(d, f) for d, _, fs in os.walk(env(tool)["HOME"]) for f in fs]
            if not index:
                continue
            path = max(index, key=os.path.getsize)
            n = os.path.getsize(path)
            with open(path, "r+b") as f:
                if how == "truncated":
                    f.truncate(n // 2)
                else:
                    for at in random.sample(range(n), min(200, n)):
                        f.seek(at)
                        f.write(bytes([random.getrandbits(8)]))
            wall, cpu, text, _ = ask(tool, command(needle), 1800)
            row("%s index" % how, tool, [wall], [cpu], needle_id in text, 1)


if __name__ == "__main__":
    main()
