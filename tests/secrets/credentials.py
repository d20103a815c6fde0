"""Credentials for tests: in the forms that services publish, made from pieces with a seed.

No whole credential stands in this file, so that no scanner objects to it.
"""

import base64
import json
import random
import string

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
ALNUM = UPPER + LOWER + DIGITS
HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"
URL_SAFE = ALNUM + "-_"
CROCKFORD = "023456789ACDEFGHJKLMNPQRSTUVWXYZ"


class Credential:
    """`text` as it would be pasted; `secret` is the part nobody may see; `name` a natural key."""

    def __init__(self, kind, name, text, secret=None):
        self.kind = kind
        self.name = name
        self.text = text
        self.secret = secret or text


class Maker:
    """Random pieces that have what real ones have: letters of both cases and digits, if they may."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def some(self, alphabet, size):
        while True:
            text = "".join(self.random.choice(alphabet) for _ in range(size))
            groups = [group for group in (UPPER, LOWER, DIGITS) if set(group) & set(alphabet)]
            if size < 16 or all(set(text) & set(group) for group in groups):
                return text if text[0].isalnum() and text[-1].isalnum() else self.some(alphabet, size)

    def uuid(self):
        return "-".join(self.some(HEX, size) for size in (8, 4, 4, 4, 12))

    def encoded(self, size):
        return base64.b64encode(self.random.randbytes(size)).decode()

    def jwt(self, claims):
        def part(value):
            return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
        return ".".join([part({"alg": "RS256", "kid": self.some(URL_SAFE, 20)}),
                         part(claims), self.some(URL_SAFE, 86)])

    def pem(self, title):
        body = self.encoded(300)
        lines = "\n".join(body[i:i + 64] for i in range(0, len(body), 64))
        return "-----BEGIN " + title + "-----\n" + lines + "\n-----END " + title + "-----\n"


def forms(maker):
    """(kind, natural name, text, secret part) of every kind."""
    some, uuid, encoded = maker.some, maker.uuid, maker.encoded
    login = "ops:" + some(ALNUM, 24)
    auth = base64.b64encode(login.encode()).decode()
    password = some(ALNUM + "%!", 18)
    yield "registry login", "dockerconfigjson", json.dumps({"auths": {"quay.io": {"auth": auth}}}), auth
    yield "registry auth", "auth", auth, auth
    yield "quay robot", "quay_robot_token", some(UPPER + DIGITS, 64), None
    yield "NGC key", "NGC_API_KEY", "nvapi" + "-" + some(URL_SAFE, 64), None
    yield "NGC legacy key", "NGC_CLI_API_KEY", base64.b64encode(
        (some(LOWER + DIGITS, 26) + ":" + uuid()).encode()).decode(), None
    yield "Docker Hub", "DOCKERHUB_TOKEN", "dckr" + "_pat_" + some(URL_SAFE, 27), None
    yield "JFrog key", "ARTIFACTORY_API_KEY", "AKC" + "p" + some(ALNUM, 69), None
    yield "JFrog reference", "artifactory_token", "cmVm" + "d" + some(ALNUM, 59), None
    yield "AWS key id", "AWS_ACCESS_KEY_ID", "AK" + "IA" + some(UPPER + "234567", 16), None
    yield "AWS session id", "aws_access_key_id", "AS" + "IA" + some(UPPER + "234567", 16), None
    yield "AWS secret key", "AWS_SECRET_ACCESS_KEY", some(BASE64, 40), None
    yield "Bedrock key", "AWS_BEARER_TOKEN_BEDROCK", "AB" + "SK" + some(BASE64, 128), None
    key_id = some(HEX, 40)
    yield "GCP account", "credentials.json", json.dumps({
        "type": "service_account", "private_key" + "_id": key_id, "client_email": "a@b.example"}), key_id
    yield "GCP API key", "GOOGLE_API_KEY", "AI" + "za" + some(URL_SAFE, 35), None
    yield "GCP OAuth secret", "client_secret", "GOC" + "SPX-" + some(URL_SAFE, 28), None
    yield "GCP access token", "access_token", "ya29" + ".a0" + some(URL_SAFE, 120), None
    yield "Azure client secret", "AZURE_CLIENT_SECRET", some(ALNUM, 3) + "8" + "Q~" + some(ALNUM + "_~.-", 34), None
    yield "Azure storage key", "AccountKey", base64.b64encode(maker.random.randbytes(64)).decode(), None
    storage = base64.b64encode(maker.random.randbytes(64)).decode()
    yield "Azure connection", "AZURE_STORAGE_CONNECTION_STRING", \
        "DefaultEndpointsProtocol=https;AccountName=ml;Account" + "Key=" + storage + ";EndpointSuffix=core.windows.net", storage
    signature = some(ALNUM, 40) + "%3D"
    yield "Azure SAS", "sasUrl", "https://ml.blob.core.windows.net/models?sv=2023-01-03&se=2027-01-01&s" + "ig=" + signature, signature
    yield "DigitalOcean", "DIGITALOCEAN_TOKEN", "dop" + "_v1_" + some(HEX, 64), None
    yield "Alibaba id", "ALIBABA_ACCESS_KEY", "LT" + "AI" + some(ALNUM, 20), None
    yield "Alibaba secret", "alibaba_access_key_secret", some(ALNUM, 30), None
    yield "IBM key", "IBMCLOUD_API_KEY", some(URL_SAFE, 44), None
    yield "GitHub token", "GITHUB_TOKEN", "gh" + "p_" + some(ALNUM, 36), None
    yield "GitHub app", "GH_TOKEN", "gh" + "s_" + some(ALNUM, 36), None
    yield "GitHub fine", "githubToken", "github" + "_pat_" + some(ALNUM, 22) + "_" + some(ALNUM, 59), None
    yield "GitLab token", "GITLAB_TOKEN", "gl" + "pat-" + some(URL_SAFE, 20), None
    yield "GitLab runner", "runnerToken", "gl" + "rt-" + some(URL_SAFE, 20), None
    yield "GitLab deploy", "deploy_token", "gl" + "dt-" + some(URL_SAFE, 20), None
    yield "Bitbucket", "BITBUCKET_APP_PASSWORD", "AT" + "BB" + some(ALNUM, 32), None
    yield "Gitea", "GITEA_TOKEN", some(HEX, 40), None
    yield "OpenShift token", "token", "sha256" + "~" + some(URL_SAFE, 43), None
    yield "kubeadmin", "kubeadmin-password", "-".join(
        some("abcdefghijkmnopqrstuvwxyzABCDEFGHIJKLMNPQRSTUVWXYZ23456789", 5) for _ in range(4)), None
    yield "bootstrap token", "token", some(LOWER + DIGITS, 6) + "." + some(LOWER + DIGITS, 16), None
    client_key = base64.b64encode(maker.pem("EC PRIVATE" + " KEY").encode()).decode()
    yield "kubeconfig", "kubeconfig", "apiVersion: v1\nkind: Config\nusers:\n- name: admin\n  user:\n    client-key" \
        "-data: " + client_key + "\n", client_key
    yield "service account", "serviceaccount-token", maker.jwt({"iss": "kubernetes/serviceaccount", "sub": "x"}), None
    yield "Vault token", "VAULT_TOKEN", "hv" + "s." + some(URL_SAFE, 95), None
    yield "Vault batch", "vault_token", "hv" + "b." + some(URL_SAFE, 140), None
    yield "Vault legacy", "VAULT_TOKEN", "s" + "." + some(ALNUM, 24), None
    yield "Hugging Face", "HF_TOKEN", "h" + "f_" + some(UPPER + LOWER, 34), None
    yield "W&B", "WANDB_API_KEY", some(HEX, 40), None
    yield "OpenAI", "OPENAI_API_KEY", "sk-" + "proj-" + some(URL_SAFE, 74) + "T3Blbk" + "FJ" + some(URL_SAFE, 74), None
    yield "OpenAI old", "openai.apiKey", "sk" + "-" + some(ALNUM, 20) + "T3Blbk" + "FJ" + some(ALNUM, 20), None
    yield "Anthropic", "ANTHROPIC_API_KEY", "sk-" + "ant-api03-" + some(URL_SAFE, 93) + "AA", None
    yield "Cohere", "COHERE_API_KEY", some(ALNUM, 40), None
    yield "Groq", "GROQ_API_KEY", "gs" + "k_" + some(ALNUM, 52), None
    yield "Slack bot", "SLACK_BOT_TOKEN", "xox" + "b-" + some(DIGITS, 12) + "-" + some(DIGITS, 12) + "-" + some(ALNUM, 24), None
    hook = "T" + some(UPPER + DIGITS, 8) + "/B" + some(UPPER + DIGITS, 8) + "/" + some(ALNUM, 24)
    yield "Slack webhook", "slack_api_url", "https://hooks." + "slack.com/services/" + hook, hook
    teams = uuid() + "@" + uuid() + "/Incoming" + "Webhook/" + some(HEX, 32) + "/" + uuid()
    yield "Teams webhook", "webhookUrl", "https://acme.webhook." + "office.com/webhookb2/" + teams, teams
    discord = some(DIGITS, 18) + "/" + some(URL_SAFE, 68)
    yield "Discord webhook", "discordUrl", "https://discord" + ".com/api/webhooks/" + discord, discord
    base = base64.b64encode(some(DIGITS, 18).encode()).decode() + "." + some(ALNUM, 6) + "." + some(URL_SAFE, 38)
    yield "Discord bot", "DISCORD_BOT", base, None
    yield "Telegram bot", "TELEGRAM_BOT_TOKEN", some("123456789", 10) + ":" + "AA" + some(URL_SAFE, 33), None
    yield "CircleCI", "CIRCLE_TOKEN", "CCI" + "PAT_" + some(ALNUM, 22) + "_" + some(HEX, 40), None
    yield "Buildkite", "BUILDKITE_AGENT_TOKEN", "bk" + "ua_" + some(HEX, 40), None
    yield "npm", "NPM_TOKEN", "np" + "m_" + some(ALNUM, 36), None
    yield "PyPI", "TWINE_PASSWORD", "pypi" + "-AgEIcHlwaS5vcmc" + some(URL_SAFE, 120), None
    yield "RubyGems", "GEM_HOST_API_KEY", "ruby" + "gems_" + some(HEX, 48), None
    yield "RSA key", "tls.key", maker.pem("RSA PRIVATE" + " KEY"), None
    yield "OpenSSH key", "ssh-privatekey", maker.pem("OPENSSH PRIVATE" + " KEY"), None
    yield "PKCS8 key", "key.pem", maker.pem("PRIVATE" + " KEY"), None
    yield "encrypted key", "encrypted.pem", maker.pem("ENCRYPTED PRIVATE" + " KEY"), None
    yield "PGP key", "signing.asc", maker.pem("PGP PRIVATE" + " KEY BLOCK"), None
    yield "age key", "SOPS_AGE_KEY", "AGE-SECRET" + "-KEY-1" + some(CROCKFORD, 58), None
    yield "Terraform", "TF_TOKEN", some(ALNUM, 14) + ".atlas" + "v1." + some(URL_SAFE, 64), None
    yield "Datadog", "DD_API_KEY", some(HEX, 32), None
    yield "Grafana account", "GRAFANA_TOKEN", "gl" + "sa_" + some(ALNUM, 32) + "_" + some(HEX, 8), None
    yield "Grafana cloud", "grafanaCloudToken", "gl" + "c_" + encoded(90), None
    yield "New Relic", "NEW_RELIC_LICENSE_KEY", "NR" + "AK-" + some(UPPER + DIGITS, 27), None
    yield "New Relic licence", "newRelicLicenseKey", some(HEX, 36) + "NR" + "AL", None
    yield "Sentry", "SENTRY_AUTH_TOKEN", "sn" + "tryu_" + some(HEX, 64), None
    yield "PagerDuty", "PAGERDUTY_ROUTING_KEY", some(HEX, 32), None
    yield "Stripe", "STRIPE_SECRET_KEY", "sk" + "_live_" + some(ALNUM, 24), None
    yield "Twilio", "TWILIO_AUTH_TOKEN", "S" + "K" + some(HEX, 32), None
    yield "SendGrid", "SENDGRID_API_KEY", "S" + "G." + some(URL_SAFE, 22) + "." + some(URL_SAFE, 43), None
    yield "Sonar", "SONAR_TOKEN", "sq" + "u_" + some(HEX, 40), None
    yield "Databricks", "DATABRICKS_TOKEN", "da" + "pi" + some(HEX, 32), None
    yield "Snowflake", "SNOWFLAKE_PASSWORD", password, None
    base = some(ALNUM, 20)
    yield "Postgres URL", "DATABASE_URL", "postgresql://ml:" + base + "@db.example.com:5432/ml", base
    base = some(ALNUM, 20)
    yield "Mongo URL", "MONGO_URI", "mongodb+srv://ml:" + base + "@cluster0.example.net/ml", base
    base = some(ALNUM, 20)
    yield "Redis URL", "REDIS_URL", "REDIS://:" + base + "@redis.example.com:6379/0", base
    base = some(ALNUM, 20)
    yield "ADO connection", "connectionString", "Server=db.example.com;User Id=ml;Pass" + "word=" + base + ";Encrypt=true", base
    base = some(ALNUM, 20)
    yield "JDBC", "jdbcUrl", "jdbc:postgresql://db.example.com/ml?user=ml&pass" + "word=" + base, base
    base = base64.b64encode(("ops:" + some(ALNUM, 20)).encode()).decode()
    yield "basic header", "Authorization", "Basic " + base, base
    base = some(ALNUM, 32)
    yield "token header", "header", "Author" + "ization: Token " + base, base
    base = some(URL_SAFE, 40)
    yield "bearer header", "Authorization", "Bearer " + base, base
    yield "licence token", "client_configuration_token.tok", maker.jwt({"iss": "NLS Service Instance", "aud": "x"}), None
    yield "plain password", "adminPassword", password, None
    yield "lower-case password", "db_password", some(LOWER, 14), None
    yield "Harbor robot", "harborRobotSecret", some(ALNUM, 32), None
    yield "Supabase", "supabaseKey", "sb" + "p_" + some(HEX, 40), None
    yield "Tailscale", "TS_AUTHKEY", "ts" + "key-auth-" + some(ALNUM, 12) + "CNTRL-" + some(ALNUM, 32), None
    yield "Pulumi", "PULUMI_ACCESS_TOKEN", "pu" + "l-" + some(HEX, 40), None
    yield "Doppler", "DOPPLER_TOKEN", "dp" + ".pt." + some(ALNUM, 43), None
    yield "1Password", "OP_SERVICE_ACCOUNT_TOKEN", "op" + "s_eyJ" + some(BASE64, 260), None
    yield "Notion", "NOTION_API_KEY", "nt" + "n_" + some(DIGITS, 11) + some(ALNUM, 35), None


def make(seed):
    """A credential of each kind."""
    return [Credential(*form) for form in forms(Maker(seed))]
