//! Credentials that are known by how they begin.
//!
//! One line a shape: how it begins, what follows and how much of it at least, what it is. Sources: the issuers' own documents
//! where a line names one, otherwise the rules that GitHub secret scanning, gitleaks and trufflehog publish. The least length
//! is below the issued one where the beginning is unmistakable: a key that was cut is still a key.

use super::bytes::{ALNUM, B64, CAPS, DASHED_CAPS, DOTTED, HEX, WORD};
use super::value::{is_varied, looks_made, looks_random};

/// A shape.
pub struct Rule {
    pub prefix: &'static str,
    /// What the rest is made of.
    pub set: u8,
    pub min: usize,
    /// A longer rest is something else.
    pub max: usize,
    /// Nothing else begins so: a few characters behind it are enough where a text was cut.
    pub sure: bool,
    /// Whether the rest looks like one.
    pub judge: fn(&str) -> bool,
    pub kind: &'static str,
}

/// An unmistakable beginning, and a rest of at least `min` characters.
const fn rule(prefix: &'static str, set: u8, min: usize, kind: &'static str) -> Rule {
    Rule { prefix, set, min, max: usize::MAX, sure: true, judge: looks_made, kind }
}

/// Like [`rule`] for a beginning that names and words have too.
const fn plain(prefix: &'static str, set: u8, min: usize, kind: &'static str) -> Rule {
    Rule { prefix, set, min, max: usize::MAX, sure: false, judge: looks_random, kind }
}

/// A rest of exactly so many characters.
const fn exact(prefix: &'static str, set: u8, len: usize, kind: &'static str) -> Rule {
    Rule { prefix, set, min: len, max: len, sure: false, judge: is_varied, kind }
}

impl Rule {
    const fn when(mut self, judge: fn(&str) -> bool) -> Self {
        self.judge = judge;
        self
    }
}

pub const RULES: &[Rule] = &[
    // Models
    rule("sk-ant-", WORD, 16, "anthropic-key"), // docs.claude.com/en/api/admin-api
    rule("sk-proj-", WORD, 20, "openai-key"),   // platform.openai.com/docs/api-reference/authentication
    rule("sk-svcacct-", WORD, 20, "openai-key"),
    rule("sk-admin-", WORD, 20, "openai-key"),
    rule("sk-None-", WORD, 20, "openai-key"),
    rule("sk-or-v1-", HEX, 20, "openrouter-key"), // openrouter.ai/docs/api-reference/authentication
    rule("sk-lf-", WORD, 20, "langfuse-key"),
    plain("sk-", ALNUM, 20, "api-key"), // OpenAI before projects, DeepSeek, Moonshot, LiteLLM
    plain("sk_", HEX, 40, "elevenlabs-key"),
    plain("csk-", ALNUM, 30, "cerebras-key"),
    rule("gsk_", ALNUM, 20, "groq-key"), // console.groq.com/docs/quickstart
    rule("xai-", ALNUM, 24, "xai-key"),  // docs.x.ai/docs/tutorial
    plain("hf_", ALNUM, 20, "huggingface-token"), // huggingface.co/docs/hub/security-tokens
    plain("api_org_", ALNUM, 20, "huggingface-token"),
    rule("r8_", ALNUM, 20, "replicate-token"), // replicate.com/docs/topics/security/api-tokens
    rule("pplx-", ALNUM, 24, "perplexity-key"), // docs.perplexity.ai
    plain("fw_", ALNUM, 20, "fireworks-key"),
    rule("tgp_v1_", WORD, 20, "together-key"),
    rule("nvapi-", WORD, 24, "nvidia-key"),
    rule("lsv2_pt_", WORD, 24, "langsmith-key"),
    rule("lsv2_sk_", WORD, 24, "langsmith-key"),
    rule("pcsk_", WORD, 24, "pinecone-key"),
    rule("tvly-", WORD, 20, "tavily-key"),
    plain("jina_", WORD, 24, "jina-key"),
    plain("rpa_", ALNUM, 24, "runpod-key"),
    plain("e2b_", HEX, 24, "e2b-key"),
    plain("fc-", HEX, 32, "firecrawl-key"),
    rule("crsr_", HEX, 24, "cursor-key"),
    rule("sgp_", WORD, 24, "sourcegraph-token"),
    rule("wandb_v1_", WORD, 24, "wandb-key"),
    // Clouds
    exact("AKIA", CAPS, 16, "aws-key-id"), // docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
    exact("ASIA", CAPS, 16, "aws-key-id"),
    exact("AROA", CAPS, 16, "aws-key-id"),
    exact("AIDA", CAPS, 16, "aws-key-id"),
    exact("ABIA", CAPS, 16, "aws-key-id"),
    exact("ACCA", CAPS, 16, "aws-key-id"),
    plain("ABSK", B64, 60, "aws-bedrock-key"),
    rule("bedrock-api-key-", B64, 40, "aws-bedrock-key"),
    rule("AIza", WORD, 24, "google-key"), // cloud.google.com/docs/authentication/api-keys
    rule("AQ.Ab8R", WORD, 24, "google-key"),
    rule("ya29.", DOTTED, 20, "google-token"), // developers.google.com/identity/protocols/oauth2
    rule("GOCSPX-", WORD, 20, "google-secret"),
    rule("1//0", WORD, 30, "google-token"),
    plain("LTAI", ALNUM, 16, "alibaba-key-id"),
    plain("AKID", ALNUM, 30, "tencent-key-id"),
    rule("dop_v1_", HEX, 20, "digitalocean-token"), // docs.digitalocean.com/reference/api
    rule("doo_v1_", HEX, 20, "digitalocean-token"),
    rule("dor_v1_", HEX, 20, "digitalocean-token"),
    rule("HRKU-", WORD, 24, "heroku-key"), // devcenter.heroku.com/articles/heroku-cli-commands
    rule("vcp_", ALNUM, 20, "vercel-token"), // vercel.com/changelog/new-token-formats-and-secret-scanning
    rule("vci_", ALNUM, 20, "vercel-token"),
    rule("vca_", ALNUM, 20, "vercel-token"),
    rule("vcr_", ALNUM, 20, "vercel-token"),
    rule("vck_", ALNUM, 20, "vercel-token"),
    rule("nfp_", ALNUM, 24, "netlify-token"),
    rule("nfc_", ALNUM, 24, "netlify-token"),
    rule("nfo_", ALNUM, 24, "netlify-token"),
    rule("nfu_", ALNUM, 24, "netlify-token"),
    rule("nfb_", ALNUM, 24, "netlify-token"),
    rule("cfut_", ALNUM, 24, "cloudflare-token"), // developers.cloudflare.com/fundamentals/api/get-started/token-formats
    rule("cfat_", ALNUM, 24, "cloudflare-token"),
    rule("cfk_", ALNUM, 24, "cloudflare-token"),
    plain("v1.0-", WORD, 80, "cloudflare-key"),
    rule("fo1_", WORD, 30, "fly-token"), // fly.io/docs/security/tokens
    rule("fm1r_", B64, 40, "fly-token"),
    rule("fm1a_", B64, 40, "fly-token"),
    rule("fm2_", B64, 40, "fly-token"),
    rule("sbp_", ALNUM, 30, "supabase-token"), // supabase.com/docs/guides/api/api-keys
    rule("sb_secret_", WORD, 20, "supabase-key"),
    rule("napi_", ALNUM, 40, "neon-key"),
    rule("pscale_tkn_", DOTTED, 24, "planetscale-token"),
    rule("pscale_oauth_", DOTTED, 24, "planetscale-token"),
    rule("pscale_pw_", DOTTED, 24, "planetscale-password"),
    plain("rnd_", ALNUM, 24, "render-key"),
    rule("ocid1.credential.", DOTTED, 40, "oracle-credential"),
    // Code and packages
    rule("ghp_", ALNUM, 16, "github-token"), // docs.github.com/en/authentication: about authentication to GitHub
    rule("gho_", ALNUM, 16, "github-token"),
    rule("ghu_", ALNUM, 16, "github-token"),
    rule("ghs_", DOTTED, 16, "github-token"),
    rule("ghr_", ALNUM, 16, "github-token"),
    rule("github_pat_", WORD, 16, "github-token"),
    rule("glpat-", DOTTED, 16, "gitlab-token"), // docs.gitlab.com/security/tokens
    rule("gloas-", WORD, 20, "gitlab-token"),
    rule("gldt-", WORD, 16, "gitlab-token"),
    rule("glrt-", DOTTED, 16, "gitlab-token"),
    rule("glrtr-", DOTTED, 16, "gitlab-token"),
    rule("glcbt-", WORD, 16, "gitlab-token"),
    rule("glptt-", WORD, 20, "gitlab-token"),
    rule("glft-", WORD, 16, "gitlab-token"),
    rule("glimt-", WORD, 16, "gitlab-token"),
    rule("glagent-", WORD, 20, "gitlab-token"),
    rule("glwt-", WORD, 16, "gitlab-token"),
    rule("glsoat-", WORD, 16, "gitlab-token"),
    rule("glffct-", WORD, 16, "gitlab-token"),
    rule("GR1348941", WORD, 16, "gitlab-token"),
    rule("ATBB", ALNUM, 24, "bitbucket-password"), // support.atlassian.com: app passwords
    rule("ATCTT3", B64, 40, "bitbucket-token"),
    rule("ATATT3", B64, 40, "atlassian-token"),
    rule("ATSTT3", B64, 40, "atlassian-token"),
    plain("npm_", ALNUM, 24, "npm-token"), // docs.npmjs.com/about-access-tokens
    rule("pypi-AgE", WORD, 24, "pypi-token"), // PyPI help, "API tokens"
    plain("cio", ALNUM, 32, "crates-token"), // crates.io account settings
    rule("rubygems_", HEX, 24, "rubygems-key"),
    plain("oy2", ALNUM, 43, "nuget-key"),
    rule("CLOJARS_", ALNUM, 40, "clojars-token"),
    rule("dckr_pat_", WORD, 16, "docker-token"), // docs.docker.com/security/access-tokens
    rule("dckr_oat_", WORD, 16, "docker-token"),
    plain("AKCp", ALNUM, 50, "artifactory-key"),
    plain("cmVmdGtu", ALNUM, 40, "artifactory-token"),
    rule("CCIPAT_", WORD, 30, "circleci-token"),
    rule("CCIPRJ_", WORD, 30, "circleci-token"),
    rule("bkua_", ALNUM, 30, "buildkite-token"),
    rule("sqp_", HEX, 30, "sonar-token"),
    rule("squ_", HEX, 30, "sonar-token"),
    rule("sqa_", HEX, 30, "sonar-token"),
    rule("PMAK-", WORD, 30, "postman-key"),
    // Secrets and infrastructure
    rule("hvs.", WORD, 20, "vault-token"), // developer.hashicorp.com/vault/docs/concepts/tokens
    rule("hvb.", WORD, 20, "vault-token"),
    rule("hvr.", WORD, 20, "vault-token"),
    exact("s.", ALNUM, 24, "vault-token").when(looks_random),
    rule("pul-", HEX, 24, "pulumi-token"), // pulumi.com/docs/pulumi-cloud/access-management/access-tokens
    rule("dp.pt.", ALNUM, 24, "doppler-token"), // docs.doppler.com/docs/service-tokens
    rule("dp.st.", DOTTED, 24, "doppler-token"),
    rule("dp.ct.", ALNUM, 24, "doppler-token"),
    rule("dp.sa.", ALNUM, 24, "doppler-token"),
    rule("dp.scim.", ALNUM, 24, "doppler-token"),
    rule("dp.audit.", ALNUM, 24, "doppler-token"),
    rule("ops_eyJ", B64, 40, "1password-token"), // developer.1password.com/docs/service-accounts
    rule("A3-", DASHED_CAPS, 30, "1password-key").when(is_varied),
    rule("AGE-SECRET-KEY-1", CAPS, 20, "age-key").when(is_varied), // github.com/FiloSottile/age
    rule("AGE-SECRET-KEY-PQ-1", CAPS, 20, "age-key").when(is_varied),
    rule("AGE-PLUGIN-YUBIKEY-1", CAPS, 20, "age-key").when(is_varied),
    rule("tskey-", WORD, 20, "tailscale-key"),
    plain("dapi", HEX, 32, "databricks-token"),
    rule("sha256~", WORD, 30, "openshift-token"),
    rule("dnkey-", WORD, 40, "defined-networking-key"),
    // Watching
    rule("NRAK-", CAPS, 20, "newrelic-key").when(is_varied), // docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys
    rule("NRII-", WORD, 20, "newrelic-key"),
    rule("NRIQ-", WORD, 20, "newrelic-key"),
    rule("NRRA-", HEX, 30, "newrelic-key"),
    rule("NRJS-", HEX, 17, "newrelic-key"),
    rule("ddapp_", ALNUM, 24, "datadog-key"),
    rule("ddpat_", WORD, 24, "datadog-key"),
    rule("sntrys_", B64, 24, "sentry-token"), // docs.sentry.io/account/auth-tokens
    rule("sntryu_", HEX, 24, "sentry-token"),
    rule("sntrya_", HEX, 24, "sentry-token"),
    rule("glsa_", WORD, 24, "grafana-token"), // grafana.com/docs/grafana/latest/administration/service-accounts
    rule("glc_", B64, 24, "grafana-token"),
    rule("eyJrIjoi", B64, 30, "grafana-key"),
    rule("dt0c01.", DOTTED, 40, "dynatrace-token"),
    rule("dt0s01.", DOTTED, 40, "dynatrace-token"),
    plain("phx_", ALNUM, 30, "posthog-key"),
    // Messages and mail
    rule("xoxb-", WORD, 20, "slack-token"), // api.slack.com/concepts/token-types
    rule("xoxp-", WORD, 20, "slack-token"),
    rule("xoxa-", WORD, 20, "slack-token"),
    rule("xoxs-", WORD, 20, "slack-token"),
    rule("xoxr-", WORD, 20, "slack-token"),
    rule("xoxo-", WORD, 20, "slack-token"),
    rule("xoxc-", WORD, 20, "slack-token"),
    rule("xoxd-", B64, 20, "slack-token"),
    rule("xoxe.xoxb-", WORD, 20, "slack-token"),
    rule("xoxe.xoxp-", WORD, 20, "slack-token"),
    rule("xoxe-", WORD, 20, "slack-token"),
    rule("xapp-", WORD, 20, "slack-token"),
    exact("SK", HEX, 32, "twilio-key"), // twilio.com/docs/iam/api-keys
    exact("AC", HEX, 32, "twilio-sid"),
    plain("SG.", DOTTED, 40, "sendgrid-key"), // docs.sendgrid.com/ui/account-and-settings/api-keys
    exact("key-", HEX, 32, "mailgun-key"),
    rule("xkeysib-", WORD, 40, "brevo-key"),
    rule("xsmtpsib-", WORD, 40, "brevo-key"),
    plain("re_", WORD, 28, "resend-key"),
    rule("EAACEdEose0cBA", ALNUM, 10, "facebook-token"),
    plain("EAAM", ALNUM, 80, "facebook-token"),
    plain("EAAC", ALNUM, 80, "facebook-token"),
    // Money and shops
    rule("sk_live_", WORD, 16, "stripe-key"), // docs.stripe.com/keys
    rule("sk_test_", WORD, 16, "stripe-key"),
    rule("rk_live_", WORD, 16, "stripe-key"),
    rule("rk_test_", WORD, 16, "stripe-key"),
    rule("sk_org_live_", WORD, 16, "stripe-key"),
    rule("whsec_", B64, 20, "webhook-secret"),
    rule("shpat_", HEX, 20, "shopify-token"),
    rule("shpca_", HEX, 20, "shopify-token"),
    rule("shppa_", HEX, 20, "shopify-token"),
    rule("shpss_", HEX, 20, "shopify-secret"),
    rule("sq0atp-", WORD, 20, "square-token"),
    rule("sq0csp-", WORD, 20, "square-secret"),
    rule("rzp_live_", ALNUM, 12, "razorpay-key"),
    rule("access_token$production$", WORD, 20, "paypal-token"),
    rule("access-production-", WORD, 30, "plaid-token"),
    rule("access-sandbox-", WORD, 30, "plaid-token"),
    rule("FLWSECK-", WORD, 20, "flutterwave-key"),
    // Work
    rule("lin_api_", ALNUM, 20, "linear-key"), // linear.app/developers
    rule("lin_oauth_", ALNUM, 20, "linear-token"),
    rule("ntn_", ALNUM, 30, "notion-token"), // developers.notion.com/docs/authorization
    exact("secret_", ALNUM, 43, "notion-token").when(looks_random),
    rule("figd_", WORD, 24, "figma-token"), // figma.com/developers/api#access-tokens
    rule("figo_", WORD, 24, "figma-token"),
    rule("figu_", WORD, 24, "figma-token"),
    rule("pat", DOTTED, 60, "airtable-token").when(|b| b.as_bytes()[14] == b'.'), // airtable.com/developers/web/guides
    plain("pat-", WORD, 36, "hubspot-token"),
    plain("pat.", DOTTED, 40, "harness-token"),
    rule("CFPAT-", WORD, 30, "contentful-token"),
    rule("tfp_", WORD, 40, "typeform-token"),
    plain("sl.", WORD, 100, "dropbox-token"),
    rule("sl.u.", WORD, 60, "dropbox-token"),
    rule("sk.eyJ", DOTTED, 40, "mapbox-token"),
    // Whatever is signed
    rule("eyJ", DOTTED, 30, "jwt").when(is_signed),
];

/// A JSON Web Token (RFC 7519) has a dot before its next part; its usual beginnings tell it without one.
fn is_signed(body: &str) -> bool {
    const HEADS: [&str; 5] = ["hbGciOi", "0eXAiOi", "raWQiOi", "4NXQiOi", "jdHkiOi"];
    body.contains(".eyJ") || body.split('.').count() > 2 || HEADS.iter().any(|h| body.starts_with(h))
}
