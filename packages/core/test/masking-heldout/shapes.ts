/**
 * Secrets in the surroundings they are met in. No value is real: each is grown from its entry's id, so it is the same
 * in every run and no scanner finds a whole one in this file. See README.md before changing anything.
 */

export type HeldOutFamily = 'own-shape' | 'by-name' | 'url' | 'key-block' | 'encoded';

export interface HeldOutShape {
  readonly id: string;
  /**
   * own-shape: its own form gives it away. by-name: only its name or context does. url: it stands inside an address.
   * key-block: a private key over several lines. encoded: it is wrapped in base64, hex, escapes or percent signs.
   */
  readonly family: HeldOutFamily;
  readonly text: string;
  /** The exact substrings that must not survive. */
  readonly secrets: readonly string[];
}

type Lines = string | readonly string[];
type Filled<T extends readonly string[]> = { [K in keyof T]: string };

const DIGITS = '0123456789';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();
const BASE62 = DIGITS + UPPER + LOWER;

const ALPHABETS: Readonly<Record<string, string>> = {
  w: BASE62,
  u: `${BASE62}-_`,
  b: `${BASE62}+/`,
  h: `${DIGITS}abcdef`,
  H: `${DIGITS}ABCDEF`,
  d: DIGITS,
  a: DIGITS + LOWER,
  A: DIGITS + UPPER,
  l: LOWER,
  m: LOWER + UPPER,
  L: UPPER,
  t: `${UPPER}234567`,
  B: 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L',
};

/** `length` characters of `alphabet`, always the same ones for a seed (FNV-1a into xorshift32). */
function grow(seed: string, alphabet: string, length: number): string {
  let state = 0x811c9dc5;
  for (const char of seed) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  state ||= 1;
  let out = '';
  for (let i = -8; i < length; i += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    if (i >= 0) out += alphabet.charAt((state >>> 8) % alphabet.length);
  }
  return out;
}

/** CRC-32 as six characters of base62: how GitHub's and npm's tokens end. */
function checksum(body: string): string {
  let crc = 0xffffffff;
  for (let i = 0; i < body.length; i += 1) {
    crc ^= body.charCodeAt(i);
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  let rest = (crc ^ 0xffffffff) >>> 0;
  let out = '';
  for (; rest > 0; rest = Math.floor(rest / 62)) out = BASE62.charAt(rest % 62) + out;
  return out.padStart(6, '0');
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const base64url = (text: string): string => Buffer.from(text).toString('base64url');

/** Header and claims as they are; the signature is `length` characters. */
function jwt(seed: string, length: number): string {
  const header = { alg: length > 43 ? 'RS256' : 'HS256', typ: 'JWT' };
  const claims = {
    sub: grow(`${seed}sub`, DIGITS, 10),
    name: 'Marta Quell',
    iat: 1718000000,
    exp: 1718003600,
  };
  const signature = grow(seed, `${BASE62}-_`, length);
  return `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}.${signature}`;
}

function uuid(seed: string): string {
  const h = grow(seed, `${DIGITS}abcdef`, 32);
  return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-a${h.slice(17, 20)}-${h.slice(20)}`;
}

/**
 * `<w36>` becomes 36 characters of alphabet `w`, `<g30>` 30 of base62 and their checksum, `<j43>` a JWT with a
 * signature of 43, `<i0>` a UUID. Everything else stays.
 */
function fill(pattern: string, seed: string): string {
  return pattern.replace(/<([a-zA-Z])(\d+)>/g, (whole: string, kind: string, count: string, at: number) => {
    const own = `${seed}#${at}`;
    const length = Number(count);
    if (kind === 'g') {
      const body = grow(own, BASE62, length);
      return body + checksum(body);
    }
    if (kind === 'j') return jwt(own, length);
    if (kind === 'i') return uuid(own);
    const alphabet = ALPHABETS[kind];
    return alphabet === undefined ? whole : grow(own, alphabet, length);
  });
}

function fillAll<const T extends readonly string[]>(id: string, patterns: T): Filled<T> {
  return patterns.map((pattern, i) => fill(pattern, `${id}/${i}`)) as unknown as Filled<T>;
}

const joined = (lines: Lines): string => (typeof lines === 'string' ? lines : lines.join('\n'));

function maker(family: HeldOutFamily) {
  return <const T extends readonly string[]>(
    id: string,
    patterns: T,
    write: (...secrets: [...Filled<T>]) => Lines,
  ): HeldOutShape => {
    const secrets = fillAll(id, patterns);
    return { id, family, text: joined(write(...([...secrets] as [...Filled<T>]))), secrets: [...secrets] };
  };
}

const own = maker('own-shape');
const named = maker('by-name');
const url = maker('url');
const key = maker('key-block');
const plain = maker('encoded');

/** `wrap` turns each filled pattern into what stands in the text, and that is what must not survive. */
function wrapped<const T extends readonly string[]>(
  id: string,
  patterns: T,
  wrap: (secret: string) => string,
  write: (...secrets: [...Filled<T>]) => Lines,
): HeldOutShape {
  const secrets = fillAll(id, patterns).map(wrap);
  const text = joined(write(...(secrets as unknown as [...Filled<T>])));
  return { id, family: 'encoded', text, secrets };
}

const ESC = '\u001b';
const DASHES = '-----';
const begin = (what: string): string => `${DASHES}BEGIN ${what}${DASHES}`;
const end = (what: string): string => `${DASHES}END ${what}${DASHES}`;

const OWN_SHAPE: readonly HeldOutShape[] = [
  // Code hosting.
  own('github-classic-env', ['ghp_<g30>'], (t) => ['# local only', `GITHUB_TOKEN=${t}`, 'LOG_LEVEL=debug']),
  own(
    'github-classic-curl',
    ['ghp_<g30>'],
    (t) => `$ curl -sS -H "Authorization: token ${t}" https://api.github.com/user | jq .login`,
  ),
  own(
    'github-classic-ansi',
    ['ghp_<g30>'],
    (t) => `${ESC}[32m✓${ESC}[0m authenticated with ${ESC}[1;33m${t}${ESC}[0m (repo, workflow)`,
  ),
  own(
    'github-classic-sentence-end',
    ['ghp_<g30>'],
    (t) => `I pasted the wrong one, the right token is ${t}.`,
  ),
  own(
    'github-classic-backticks',
    ['ghp_<g30>'],
    (t) => `Use \`${t}\` until the rotation on Friday, then throw it away.`,
  ),
  own(
    'github-oauth-json',
    ['gho_<g30>'],
    (t) => `{"access_token":"${t}","token_type":"bearer","scope":"repo,gist"}`,
  ),
  own('github-user-to-server-yaml', ['ghu_<g30>'], (t) => [
    'github.com:',
    '    user: mquell',
    `    oauth_token: ${t}`,
    '    git_protocol: https',
  ]),
  own('github-server-to-server-log', ['ghs_<g30>'], (t) => [
    '2024-06-11T08:14:02.113Z INFO  app.installation minted',
    `2024-06-11T08:14:02.114Z DEBUG installation=48213377 token=${t} expires=3600`,
  ]),
  own(
    'github-refresh-form',
    ['ghr_<w76>'],
    (t) => `grant_type=refresh_token&refresh_token=${t}&client_id=Iv1.8a61f9b3a7aba766`,
  ),
  own('github-fine-grained-toml', ['github_pat_<w22>_<w59>'], (t) => [
    '[registries.internal]',
    'index = "sparse+https://crates.corp.example/"',
    `token = "${t}"`,
  ]),
  own('github-fine-grained-diff', ['github_pat_<w22>_<w59>', 'github_pat_<w22>_<w59>'], (a, b) => [
    '@@ -3,7 +3,7 @@ export const config = {',
    `-  token: '${a}',`,
    `+  token: '${b}',`,
    '   retries: 3,',
  ]),
  own('github-two-on-one-line', ['ghp_<g30>', 'ghs_<g30>'], (a, b) => `old=${a},new=${b};swap done`),
  own('github-markdown-table', ['ghp_<g30>'], (t) => [
    '| service | token | owner |',
    '|---|---|---|',
    `| mirror bot | ${t} | infra |`,
  ]),
  own('gitlab-personal-header', ['glpat-<u20>'], (t) => `> PRIVATE-TOKEN: ${t}`),
  own(
    'gitlab-routable',
    ['glpat-<u44>.01.0<a8>'],
    (t) => `glab auth login --hostname gitlab.example.org --token ${t}`,
  ),
  own(
    'gitlab-deploy-docker',
    ['gldt-<u20>'],
    (t) => `docker login -u deploy-bot -p ${t} registry.gitlab.example.org`,
  ),
  own('gitlab-runner', ['glrt-t1_<u20>'], (t) => [
    '[[runners]]',
    '  name = "builder-07"',
    '  url = "https://gitlab.example.org/"',
    `  token = "${t}"`,
    '  executor = "docker"',
  ]),
  own(
    'gitlab-runner-registration',
    ['GR1348941<u20>'],
    (t) => `gitlab-runner register --non-interactive --registration-token ${t} --executor shell`,
  ),
  own(
    'gitlab-pipeline-trigger',
    ['glptt-<h40>'],
    (t) =>
      `curl -X POST -F token=${t} -F ref=main https://gitlab.example.org/api/v4/projects/812/trigger/pipeline`,
  ),
  own('gitlab-ci-build', ['glcbt-64_<u20>'], (t) => `CI_JOB_TOKEN is ${t}`),
  own(
    'gitlab-feed',
    ['glft-<u20>'],
    (t) => `<link rel="alternate" href="https://gitlab.example.org/mq.atom?feed_token=${t}" />`,
  ),
  own('gitlab-agent', ['glagent-<u50>'], (t) => [
    'helm upgrade --install agent gitlab/gitlab-agent \\',
    `    --set config.token=${t} \\`,
    '    --set config.kasAddress=wss://kas.example.org',
  ]),
  own('gitlab-scim', ['glsoat-<u20>'], (t) => `scim_oauth_access_token: ${t}`),
  own(
    'gitlab-incoming-mail',
    ['glimt-<a25>'],
    (t) => `incoming+mq-site-812-${t}-issue@mail.gitlab.example.org`,
  ),
  own('gitlab-oauth-secret', ['gloas-<h64>'], (t) => `GITLAB_OAUTH_APP_SECRET='${t}'`),
  own('bitbucket-app', ['ATBB<w32><H8>'], (t) => `git clone failed for x-token-auth (${t})`),
  own('atlassian-api', ['ATATT3xFfGF0<u172>=<H8>'], (t) => [
    'jira:',
    '  email: m.quell@example.org',
    `  api: "${t}"`,
  ]),
  own('atlassian-access', ['ATCTT3xFfGN0<u172>=<H8>'], (t) => `bitbucket-pipelines: + export BB_TOKEN=${t}`),
  own('trello', ['ATTA<h64><H8>'], (t) => `GET /1/members/me/boards?token=${t} 200 31ms`),
  own('sourcegraph', ['sgp_<h16>_<h40>'], (t) => `SRC_ACCESS_TOKEN=${t} src search 'repo:^github'`),
  own('sonar-user', ['squ_<h40>'], (t) => `[INFO] sonar.token -> ${t}`),
  own('sonar-project', ['sqp_<h40>'], (t) => `mvn -B verify sonar:sonar -Dsonar.login=${t}`),

  // Package registries.
  own('npm-npmrc', ['npm_<g30>'], (t) => [
    '@acme:registry=https://registry.npmjs.org/',
    `//registry.npmjs.org/:_authToken=${t}`,
  ]),
  own('npm-dockerfile', ['npm_<g30>'], (t) => [
    'FROM node:20-alpine',
    `ARG NPM_TOKEN=${t}`,
    'RUN npm ci --omit=dev',
  ]),
  own('npm-ci-log', ['npm_<g30>'], (t) => `##[debug]Evaluating: secrets.NPM => '${t}'`),
  own('pypi-pypirc', ['pypi-AgEIcHlwaS5vcmc<u150>'], (t) => [
    '[pypi]',
    'username = __token__',
    `password = ${t}`,
  ]),
  own(
    'pypi-test-twine',
    ['pypi-AgENdGVzdC5weXBpLm9yZw<u140>'],
    (t) => `twine upload --repository testpypi -u __token__ -p ${t} dist/*`,
  ),
  own('rubygems', ['rubygems_<h48>'], (t) => ['---', `:rubygems_api_key: ${t}`]),
  own(
    'nuget',
    ['oy2<a43>'],
    (t) => `dotnet nuget push bin/Release/Acme.1.4.0.nupkg --api-key ${t} --source nuget.org`,
  ),
  own('crates-io', ['cio<w32>'], (t) => ['[registry]', `token = "${t}"`]),
  own('clojars', ['CLOJARS_<h60>'], (t) => `CLOJARS_USERNAME=mq CLOJARS_PASSWORD=${t} lein deploy clojars`),
  own('docker-personal', ['dckr_pat_<u27>'], (t) => `echo ${t} | docker login -u mquell --password-stdin`),
  own('docker-organisation', ['dckr_oat_<u32>'], (t) => `DOCKERHUB=${t}`),
  own(
    'jfrog-api-key',
    ['AKCp8<w68>'],
    (t) => `curl -H 'X-JFrog-Art-Api: ${t}' -T app.jar https://acme.jfrog.io/artifactory/libs/app.jar`,
  ),
  own(
    'jfrog-reference',
    ['cmVmdGtuOjAxOj<w50>'],
    (t) => `jf c add --url=https://acme.jfrog.io --access-token=${t} --interactive=false`,
  ),

  // Chat.
  own('slack-bot', ['xoxb-<d12>-<d13>-<w24>'], (t) => [
    'import { WebClient } from "@slack/web-api";',
    `const web = new WebClient("${t}");`,
  ]),
  own(
    'slack-user',
    ['xoxp-<d12>-<d12>-<d13>-<h32>'],
    (t) => `slack.errors.NotAuthed: {'token': '${t}', 'ok': False}`,
  ),
  own('slack-app', ['xapp-1-A<A10>-<d13>-<h64>'], (t) => `SLACK_APP_TOKEN: "${t}" # socket mode`),
  own('slack-workspace', ['xoxa-2-<d12>-<d12>-<d12>-<h32>'], (t) => `workspace token (${t}) was revoked`),
  own(
    'slack-refresh-legacy',
    ['xoxr-<d12>-<d12>-<d12>-<h32>'],
    (t) => `refresh ${t} -> invalid_refresh_token`,
  ),
  own(
    'slack-rotating-bot',
    ['xoxe.xoxb-1-<w166>'],
    (t) => `{"ok":true,"access_token":"${t}","expires_in":43200}`,
  ),
  own('slack-rotating-user', ['xoxe.xoxp-1-<w163>', 'xoxe-1-<w147>'], (a, r) => [
    '{',
    `  "access_token": "${a}",`,
    `  "refresh_token": "${r}"`,
    '}',
  ]),
  own('slack-client-and-cookie', ['xoxc-<d12>-<d13>-<d13>-<h64>', 'xoxd-<w40>%2B<w60>%3D%3D'], (t, d) => [
    `-F token=${t} \\`,
    `-b 'd=${d}; lc=1718000000'`,
  ]),
  own(
    'slack-webhook',
    ['T<A10>/B<A10>/<w24>'],
    (t) => `curl -X POST --data '{"text":"deployed"}' https://hooks.slack.com/services/${t}`,
  ),
  own(
    'slack-workflow',
    ['T<A10>/A<A10>/<d18>/<w24>'],
    (t) => `webhook_url: https://hooks.slack.com/workflows/${t}`,
  ),
  own('telegram-env', ['7<d9>:AA<u33>'], (t) => `TELEGRAM_BOT_TOKEN=${t}`),
  own(
    'telegram-api-url',
    ['7<d9>:AA<u33>'],
    (t) => `POST https://api.telegram.org/bot${t}/sendMessage 429 Too Many Requests`,
  ),
  own(
    'telegram-file-url',
    ['6<d8>:AA<u33>'],
    (t) => `wget https://api.telegram.org/file/bot${t}/photos/file_12.jpg`,
  ),
  own('telegram-python', ['7<d9>:AA<u33>'], (t) => `bot = telebot.TeleBot("${t}", parse_mode="HTML")`),
  own('telegram-stack', ['7<d9>:AA<u33>'], (t) => [
    'FetchError: request to the bot API failed, reason: getaddrinfo ENOTFOUND',
    `    at ClientRequest.<anonymous> (https://api.telegram.org/bot${t}/getUpdates?offset=12)`,
    '    at emitErrorEvent (node:_http_client:103:11)',
  ]),
  own('discord-bot', ['MTA<w23>.G<w5>.<u38>'], (t) => `client.login('${t}');`),
  own(
    'discord-webhook',
    ['<u68>'],
    (t) => `https://discord.com/api/webhooks/1187345612345098241/${t}?wait=true`,
  ),
  own(
    'discord-webhook-old-host',
    ['<u68>'],
    (t) => `notify: https://discordapp.com/api/webhooks/987345612345098241/${t}`,
  ),
  own(
    'teams-webhook',
    ['<h32>/<i0>'],
    (t) =>
      `https://acme.webhook.office.com/webhookb2/6f9619ff-8b86-4011-b42d-00c04fc964ff@72f988bf-86f1-41af-91ab-2d7cd011db47/IncomingWebhook/${t}`,
  ),

  // Payments and shops.
  own('stripe-live', ['sk_live_<w24>'], (t) => `Stripe.api_key = "${t}"`),
  own(
    'stripe-live-long',
    ['sk_live_51<w97>'],
    (t) => `stripe listen --api-key ${t} --forward-to localhost:4242/hook`,
  ),
  own(
    'stripe-test',
    ['sk_test_<w24>'],
    (t) => `curl https://api.stripe.com/v1/charges -u ${t}: -d amount=2000`,
  ),
  own('stripe-restricted', ['rk_live_<w99>'], (t) => `stripe: { restricted: '${t}' },`),
  own(
    'stripe-webhook-secret',
    ['whsec_<w32>'],
    (t) => `> Ready! Your webhook signing secret is ${t} (^C to quit)`,
  ),
  own(
    'stripe-error-message',
    ['sk_live_<w24>'],
    (t) => `StripeAuthenticationError: Expired API Key provided: ${t}, see the dashboard`,
  ),
  own('square-access', ['EAAA<u60>'], (t) => `SQUARE_ACCESS_TOKEN="${t}"`),
  own('square-secret', ['sq0csp-<u43>'], (t) => `square.oauth.secret=${t}`),
  own('square-personal', ['sq0atp-<u22>'], (t) => `Authorization: Bearer ${t}`),
  own(
    'paypal-braintree',
    ['access_token$production$<a16>$<h32>'],
    (t) => `gateway = Braintree::Gateway.new(:access_token => "${t}")`,
  ),
  own('shopify-admin', ['shpat_<h32>'], (t) => `X-Shopify-Access-Token: ${t}`),
  own('shopify-shared', ['shpss_<h32>'], (t) => ['[shopify]', `secret=${t}`]),
  own(
    'shopify-custom',
    ['shpca_<h32>'],
    (t) => `session = shopify.Session("acme.myshopify.com", "2024-04", "${t}")`,
  ),
  own(
    'shopify-private',
    ['shppa_<h32>'],
    (t) => `https://3f1b:${t}@acme.myshopify.com/admin/api/2024-04/orders.json`,
  ),
  own(
    'razorpay-pair',
    ['rzp_live_<w14>', '<w24>'],
    (k, s) => `curl -u ${k}:${s} https://api.razorpay.com/v1/payments`,
  ),
  own('flutterwave', ['FLWSECK-<h32>-X'], (t) => `FLW_SECRET: ${t}`),
  own(
    'paystack',
    ['sk_live_<h40>'],
    (t) => `-H "Authorization: Bearer ${t}" -X GET https://api.paystack.co/balance`,
  ),
  own(
    'plaid-access',
    ['access-production-<i0>'],
    (t) => `plaid item linked access_token="${t}" item_id=eVBnVMp7zdTJLkRNr33Rs6zr7KNJqBFL9DrE6`,
  ),
  own('duffel', ['duffel_live_<u43>'], (t) => `duffel = Duffel(access_token="${t}")`),
  own('shippo', ['shippo_live_<h40>'], (t) => `Authorization: ShippoToken ${t}`),
  own('easypost', ['EZAK<w54>'], (t) => `EasyPost.api_key = '${t}'`),

  // Clouds.
  own('aws-key-pair-credentials', ['AKIA<t16>', '<w20>/<w12>+<w6>'], (k, s) => [
    '[default]',
    `aws_access_key_id = ${k}`,
    `aws_secret_access_key = ${s}`,
    'region = eu-central-1',
  ]),
  own('aws-session-export', ['ASIA<t16>', '<w40>', 'IQoJb3JpZ2luX2VjE<b281>=='], (k, s, t) => [
    `export AWS_ACCESS_KEY_ID="${k}"`,
    `export AWS_SECRET_ACCESS_KEY="${s}"`,
    `export AWS_SESSION_TOKEN="${t}"`,
  ]),
  own('aws-sts-json', ['ASIA<t16>', '<b40>', 'FwoGZXIvYXdzE<b200>'], (k, s, t) => [
    '{"Credentials": {',
    `  "AccessKeyId": "${k}",`,
    `  "SecretAccessKey": "${s}",`,
    `  "SessionToken": "${t}",`,
    '  "Expiration": "2024-06-11T09:14:02Z"',
    '}}',
  ]),
  own('aws-terraform', ['AKIA<t16>', '<b40>'], (k, s) => [
    'provider "aws" {',
    '  region     = "us-east-1"',
    `  access_key = "${k}"`,
    `  secret_key = "${s}"`,
    '}',
  ]),
  own('aws-configure-transcript', ['AKIA<t16>', '<b40>'], (k, s) => [
    '$ aws configure',
    `AWS Access Key ID [None]: ${k}`,
    `AWS Secret Access Key [None]: ${s}`,
    'Default region name [None]: eu-west-1',
  ]),
  own('aws-csv', ['AKIA<t16>', '<b40>'], (k, s) => [
    'User name,Access key ID,Secret access key',
    `ci-uploader,${k},${s}`,
  ]),
  own(
    'aws-boto-positional',
    ['AKIA<t16>', '<b40>'],
    (k, s) => `session = boto3.Session(aws_access_key_id='${k}', aws_secret_access_key='${s}')`,
  ),
  own('aws-bedrock', ['ABSK<b127>='], (t) => `AWS_BEARER_TOKEN_BEDROCK=${t}`),
  own(
    'gcp-api-key',
    ['AIzaSy<u33>'],
    (t) => `<script src="https://maps.googleapis.com/maps/api/js?key=${t}&callback=init" async></script>`,
  ),
  own('gcp-api-key-android', ['AIzaSy<u33>'], (t) => [
    '<application>',
    '  <meta-data android:name="com.google.android.geo.API_KEY"',
    `      android:value="${t}" />`,
  ]),
  own(
    'gcp-oauth-secret',
    ['GOCSPX-<u28>'],
    (t) => `{"web":{"client_id":"481516234200-ab12.apps.googleusercontent.com","client_secret":"${t}"}}`,
  ),
  own('gcp-access-token', ['ya29.a0A<u160>'], (t) => ['$ gcloud auth print-access-token', t]),
  own('gcp-refresh-token', ['1//0<w1><u90>'], (t) => `  "refresh_token": "${t}",`),
  own('gcp-hmac', ['GOOG1E<A55>', '<b40>'], (k, s) => [
    '[Credentials]',
    `gs_access_key_id = ${k}`,
    `gs_secret_access_key = ${s}`,
  ]),
  own(
    'azure-storage-account',
    ['<b86>=='],
    (t) =>
      `DefaultEndpointsProtocol=https;AccountName=acmelogs;AccountKey=${t};EndpointSuffix=core.windows.net`,
  ),
  own(
    'azure-storage-cli',
    ['<b76>+AStD<A4>Q=='],
    (t) => `az storage blob list --account-name acmelogs --account-key "${t}" -c logs`,
  ),
  own(
    'azure-cosmos',
    ['<b86>=='],
    (t) => `AccountEndpoint=https://acme.documents.azure.com:443/;AccountKey=${t};`,
  ),
  own(
    'azure-service-bus',
    ['<b43>='],
    (t) =>
      `"Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=${t}"`,
  ),
  own(
    'azure-iot-hub',
    ['<b43>='],
    (t) => `HostName=acme.azure-devices.net;DeviceId=pump-3;SharedAccessKey=${t}`,
  ),
  own('azure-ad-client-secret', ['<w3>8Q~<w34>'], (t) => [
    'AZURE_TENANT_ID=72f988bf-86f1-41af-91ab-2d7cd011db47',
    `AZURE_CLIENT_SECRET=${t}`,
  ]),
  own(
    'azure-ad-client-secret-args',
    ['<w3>8Q~<w34>'],
    (t) =>
      `az login --service-principal -u 6f9619ff-8b86-4011-b42d-00c04fc964ff -p ${t} --tenant acme.example`,
  ),
  own('azure-devops-pat', ['<w76>AZDO<w4>'], (t) => `npx vsts-npm-auth failed for ${t}`),
  own('azure-function-key', ['<u44>AzFu<u5>Q=='], (t) => `x-functions-key: ${t}`),
  own(
    'azure-search-key',
    ['<w42>AzSeD<w5>'],
    (t) => `SearchClient(endpoint, "docs", AzureKeyCredential("${t}"))`,
  ),
  own(
    'azure-registry-password',
    ['<b42>+ACRD<b5>'],
    (t) => `docker login acme.azurecr.io --username acme --password ${t}`,
  ),
  own('alibaba-pair', ['LTAI5t<w18>', '<w30>'], (k, s) => [
    'aliyun:',
    `  accessKeyId: ${k}`,
    `  accessKeySecret: ${s}`,
  ]),
  own('tencent-pair', ['AKID<w32>', '<w32>'], (k, s) => [
    `TENCENTCLOUD_SECRET_ID=${k}`,
    `TENCENTCLOUD_SECRET_KEY=${s}`,
  ]),
  own('yandex-cloud', ['AQVN<u36>'], (t) => `Authorization: Api-Key ${t}`),
  own('yandex-oauth', ['y0_AgAAAA<u50>'], (t) => `yc config set token ${t}`),
  own('digitalocean', ['dop_v1_<h64>'], (t) => `doctl auth init -t ${t}`),
  own(
    'digitalocean-oauth',
    ['doo_v1_<h64>', 'dor_v1_<h64>'],
    (a, r) => `{"access_token":"${a}","refresh_token":"${r}","expires_in":2592000}`,
  ),
  own('heroku', ['HRKU-AA<u58>'], (t) => [
    'machine api.heroku.com',
    '  login m.quell@example.org',
    `  password ${t}`,
  ]),
  own('heroku-uuid-form', ['HRKU-<i0>'], (t) => `Creating session... done: ${t}`),
  own('fly', ['FlyV1 fm2_<b178>==,fm2_<b119>='], (t) => `FLY_API_TOKEN="${t}"`),
  own('fly-org', ['fo1_<u43>'], (t) => `flyctl deploy --access-token ${t}`),
  own('netlify', ['nfp_<w36>'], (t) => `netlify deploy --prod --auth ${t} --dir=dist`),
  own('vercel', ['vcp_<w56>'], (t) => `npx vercel pull --yes --token=${t}`),
  own('cloudflare-origin-ca', ['v1.0-<h24>-<h146>'], (t) => `X-Auth-User-Service-Key: ${t}`),
  own(
    'render',
    ['rnd_<w32>'],
    (t) => `curl -H 'Authorization: Bearer ${t}' https://api.render.com/v1/services`,
  ),
  own('scalingo', ['tk-us-<u48>'], (t) => `scalingo login --api-token ${t}`),
  own(
    'tailscale',
    ['tskey-auth-<w17>-<w32>'],
    (t) => `sudo tailscale up --authkey=${t} --hostname=builder-07`,
  ),
  own(
    'tailscale-api',
    ['tskey-api-<w12>-<w32>'],
    (t) => `curl -u "${t}:" https://api.tailscale.com/api/v2/tailnet/-/devices`,
  ),
  own('openshift', ['sha256~<u43>'], (t) => `oc login --token=${t} --server=https://api.acme.example:6443`),

  // Models.
  own('openai-project', ['sk-proj-<u74>T3BlbkFJ<u74>'], (t) => `OPENAI_API_KEY=${t}`),
  own(
    'openai-classic',
    ['sk-<w20>T3BlbkFJ<w20>'],
    (t) =>
      `openai.AuthenticationError: Incorrect API key provided: ${t}. You can find yours in the dashboard.`,
  ),
  own('openai-service-account', ['sk-svcacct-<u58>T3BlbkFJ<u58>'], (t) => [
    'models:',
    '  - provider: openai',
    `    key: '${t}'`,
  ]),
  own(
    'openai-admin',
    ['sk-admin-<u58>T3BlbkFJ<u58>'],
    (t) => `curl https://api.openai.com/v1/organization/users -H "Authorization: Bearer ${t}"`,
  ),
  own(
    'anthropic-api',
    ['sk-ant-api03-<u93>AA'],
    (t) =>
      `curl https://api.anthropic.com/v1/messages -H "x-api-key: ${t}" -H "anthropic-version: 2023-06-01"`,
  ),
  own(
    'anthropic-api-json-escaped',
    ['sk-ant-api03-<u93>AA'],
    (t) => `{"level":"error","msg":"spawn failed: {\\"env\\":{\\"ANTHROPIC_API_KEY\\":\\"${t}\\"}}"}`,
  ),
  own('anthropic-admin', ['sk-ant-admin01-<u93>AA'], (t) => `anthropic admin key ${t} (read only)`),
  own(
    'anthropic-oauth',
    ['sk-ant-oat01-<u93>AA', 'sk-ant-ort01-<u93>AA'],
    (a, r) => `{"claudeAiOauth":{"accessToken":"${a}","refreshToken":"${r}","expiresAt":1718003600000}}`,
  ),
  own('openrouter', ['sk-or-v1-<h64>'], (t) => `OPENROUTER=${t} python run.py`),
  own('huggingface', ['hf_<m34>'], (t) => `huggingface-cli login --token ${t}`),
  own(
    'huggingface-clone',
    ['hf_<m34>'],
    (t) => `git clone https://mquell:${t}@huggingface.co/acme/tiny-model`,
  ),
  own('huggingface-org', ['api_org_<m34>'], (t) => `InferenceClient(token="${t}")`),
  own('groq', ['gsk_<w52>'], (t) => `export GROQ_API_KEY='${t}'`),
  own('xai', ['xai-<w80>'], (t) => `client = OpenAI(base_url="https://api.x.ai/v1", api_key="${t}")`),
  own('replicate', ['r8_<w37>'], (t) => `Replicate(api_token="${t}")`),
  own('perplexity', ['pplx-<w48>'], (t) => `headers: { Authorization: \`Bearer ${t}\` },`),
  own('deepseek', ['sk-<h32>'], (t) => `DEEPSEEK_API_KEY=${t}`),
  own(
    'google-ai',
    ['AIzaSy<u33>'],
    (t) => `POST https://generativelanguage.googleapis.com/v1beta/models/gemini-pro:generateContent?key=${t}`,
  ),
  own('fireworks', ['fw_<w24>'], (t) => `FIREWORKS_API_KEY: ${t}`),
  own('together', ['tgp_v1_<u43>'], (t) => `together.api_key = "${t}"`),
  own('nvidia', ['nvapi-<u64>'], (t) => `docker run -e NGC_API_KEY=${t} nvcr.io/nim/meta/llama3:latest`),
  own('cerebras', ['csk-<a48>'], (t) => `Cerebras(api_key='${t}')`),
  own('langsmith', ['lsv2_pt_<h32>_<h10>'], (t) => ['LANGSMITH_TRACING=true', `LANGSMITH_API_KEY=${t}`]),
  own('langfuse', ['sk-lf-<i0>'], (t) => `Langfuse(public_key="pk-lf-demo", secret_key="${t}")`),
  own('elevenlabs', ['sk_<h48>'], (t) => `xi-api-key: ${t}`),
  own('pinecone', ['pcsk_<w5>_<w63>'], (t) => `pc = Pinecone(api_key="${t}")`),
  own('tavily', ['tvly-dev-<w32>'], (t) => `"TAVILY_API_KEY": "${t}",`),
  own(
    'jina',
    ['jina_<h32><u28>'],
    (t) => `curl https://r.jina.ai/https://example.org -H "Authorization: Bearer ${t}"`,
  ),
  own(
    'model-keys-several',
    ['sk-ant-api03-<u93>AA', 'gsk_<w52>', 'hf_<m34>'],
    (a, g, h) => `keys: anthropic=${a} groq=${g} hf=${h}`,
  ),

  // Mail and phone.
  own('sendgrid', ['SG.<u22>.<u43>'], (t) => `sg = SendGridAPIClient('${t}')`),
  own('sendgrid-smtp', ['SG.<u22>.<u43>'], (t) => [
    'smtp:',
    '  host: smtp.sendgrid.net',
    '  user: apikey',
    `  pass: ${t}`,
  ]),
  own(
    'mailgun-classic',
    ['key-<h32>'],
    (t) => `curl -s --user 'api:${t}' https://api.mailgun.net/v3/mg.example.org/messages`,
  ),
  own('mailgun-new', ['<h32>-<h8>-<h8>'], (t) => `MAILGUN_API_KEY=${t}`),
  own('mailchimp', ['<h32>-us14'], (t) => `mailchimp.setConfig({ apiKey: "${t}", server: "us14" });`),
  own('brevo', ['xkeysib-<h64>-<w16>'], (t) => `api-key: ${t}`),
  own('brevo-smtp', ['xsmtpsib-<h64>-<w16>'], (t) => `MAIL_PASSWORD="${t}"`),
  own('resend', ['re_<w8>_<w24>'], (t) => `const resend = new Resend('${t}');`),
  own(
    'twilio-key',
    ['SK<h32>', '<w32>'],
    (k, s) => `twilio(apiKey='${k}', apiSecret='${s}', accountSid=sid)`,
  ),

  // Work tools.
  own('linear', ['lin_api_<w40>'], (t) => `curl -H "Authorization: ${t}" https://api.linear.app/graphql`),
  own('linear-oauth', ['lin_oauth_<h64>'], (t) => `linear: Bearer ${t}`),
  own('notion-old', ['secret_<w43>'], (t) => `notion = Client(auth="${t}")`),
  own('notion-new', ['ntn_<d11><w35>'], (t) => `NOTION_TOKEN=${t}`),
  own('figma', ['figd_<u43>'], (t) => `X-Figma-Token: ${t}`),
  own('airtable', ['pat<w14>.<h64>'], (t) => `Airtable.configure({ apiKey: '${t}' })`),
  own('asana', ['1/<d16>:<h32>'], (t) => `asana.Client.access_token('${t}')`),
  own('dropbox', ['sl.B<u135>'], (t) => `dbx = dropbox.Dropbox("${t}")`),
  own('dropbox-user', ['sl.u.A<u200>'], (t) => `DROPBOX_ACCESS_TOKEN=${t}`),
  own(
    'postman',
    ['PMAK-<h24>-<h34>'],
    (t) => `newman run https://api.getpostman.com/collections/12-ab?apikey=${t}`,
  ),
  own('contentful', ['CFPAT-<u43>'], (t) => `contentful space export --management-token ${t}`),
  own('typeform', ['tfp_<w44>_<w14>'], (t) => `typeform token: ${t}`),
  own('readme', ['rdme_xn8s9h<h64>'], (t) => `npx rdme openapi --key=${t}`),
  own(
    'facebook',
    ['EAAG<w170>ZDZD'],
    (t) => `https://graph.facebook.com/v19.0/me/accounts?access_token=${t}`,
  ),
  own('facebook-app', ['<d15>|<u27>'], (t) => `FB_APP_TOKEN="${t}"`),
  own(
    'twitter-bearer',
    ['AAAAAAAAAAAAAAAAAAAAA<w12>%2F<w20>%3D<w50>'],
    (t) => `curl "https://api.twitter.com/2/tweets/20" -H "Authorization: Bearer ${t}"`,
  ),
  own('linkedin', ['WPL_AP1.<u16>.<b6>=='], (t) => `linkedin: { id: "77ab12cd34ef56", secret: "${t}" }`),
  own(
    'mapbox-secret',
    [`sk.${base64url('{"u":"mquell","a":"clx0')}<w20>.<u22>`],
    (t) => `mapboxgl.accessToken = '${t}';`,
  ),
  own('asana-legacy', ['0/<h32>'], (t) => `ASANA_TOKEN=${t}`),

  // Watching and building.
  own('new-relic-user', ['NRAK-<A27>'], (t) => `newrelic profile add --name prod --apiKey ${t} --region eu`),
  own('new-relic-licence', ['<h32>FFFFNRAL'], (t) => [
    'common: &default_settings',
    `  license_key: ${t}`,
    '  app_name: shop',
  ]),
  own('new-relic-insert', ['NRII-<u32>'], (t) => `X-Insert-Key: ${t}`),
  own(
    'grafana-service',
    ['glsa_<w32>_<h8>'],
    (t) => `grafana: {auth: ${t}, url: "https://grafana.example.org"}`,
  ),
  own(
    'grafana-cloud',
    [`glc_${base64url('{"o":"812345","n":"ci","k":"')}<w64>=`],
    (t) => `remote_write: password: ${t}`,
  ),
  own('grafana-legacy', [`${base64url('{"k":"')}<w80>=`], (t) => `Authorization: Bearer ${t}`),
  own('sentry-dsn', ['<h32>'], (t) => `Sentry.init({ dsn: "https://${t}@o48213.ingest.sentry.io/5129" });`),
  own('sentry-dsn-legacy', ['<h32>:<h32>'], (t) => `SENTRY_DSN=https://${t}@sentry.example.org/42`),
  own(
    'sentry-org',
    [`sntrys_${base64('{"iat":1718000000.5,"url":"https://sentry.io"}')}_<b43>`],
    (t) => `[auth]\ntoken=${t}`,
  ),
  own('sentry-user', ['sntryu_<h64>'], (t) => `sentry-cli --auth-token ${t} releases new 1.4.0`),
  own('vault-service', ['hvs.<u95>'], (t) => [
    'Key                  Value',
    '---                  -----',
    `token                ${t}`,
    'token_duration       768h',
  ]),
  own('vault-batch', ['hvb.<u140>'], (t) => `X-Vault-Token: ${t}`),
  own('vault-legacy', ['s.<w24>'], (t) => `VAULT_TOKEN=${t} vault kv get secret/app`),
  own('doppler-service', ['dp.st.prd.<w43>'], (t) => `DOPPLER_TOKEN="${t}" doppler run -- node server.js`),
  own('doppler-personal', ['dp.pt.<w43>'], (t) => `doppler configure set token ${t} --scope /`),
  own('pulumi', ['pul-<h40>'], (t) => `PULUMI_ACCESS_TOKEN: ${t}`),
  own('terraform-cloud', ['<w14>.atlasv1.<u67>'], (t) => [
    'credentials "app.terraform.io" {',
    `  token = "${t}"`,
    '}',
  ]),
  own('databricks', ['dapi<h32>'], (t) => [
    '[DEFAULT]',
    'host  = https://adb-812.3.azuredatabricks.net',
    `token = ${t}`,
  ]),
  own('databricks-suffix', ['dapi<h32>-2'], (t) => `databricks-cli: using ${t}, profile=dev`),
  own('supabase-personal', ['sbp_<h40>'], (t) => `supabase login --token ${t}`),
  own('supabase-secret', ['sb_secret_<u22>_<w8>'], (t) => `createClient(url, '${t}')`),
  own(
    'planetscale-token',
    ['pscale_tkn_<u43>'],
    (t) => `pscale branch list shop --service-token ${t} --service-token-id k2ab1xyz`,
  ),
  own(
    'planetscale-password',
    ['pscale_pw_<u43>'],
    (t) => `mysql://u8x2k1:${t}@aws.connect.psdb.cloud/shop?ssl={"rejectUnauthorized":true}`,
  ),
  own('neon', ['napi_<a64>'], (t) => `neonctl projects list --api-key ${t}`),
  own('aiven', ['AVNS_<u19>'], (t) => `redis-cli -h cache-acme.aivencloud.com -p 12345 --tls -a ${t}`),
  own('mongodb-atlas', ['mdb_sa_sk_<u40>'], (t) => `atlas auth: client_secret=${t}`),
  own('circleci', ['CCIPAT_<w22>_<h40>'], (t) => `Circle-Token: ${t}`),
  own('circleci-project', ['CCIPRJ_<w22>_<h40>'], (t) => `curl -u "${t}:" https://circleci.com/api/v2/me`),
  own('buildkite', ['bkua_<h40>'], (t) => `bk configure --org acme --token ${t}`),
  own('dynatrace', ['dt0c01.<t24>.<t64>'], (t) => `Authorization: Api-Token ${t}`),
  own('posthog-personal', ['phx_<w43>'], (t) => `POSTHOG_PERSONAL_API_KEY=${t}`),
  own('launchdarkly-sdk', ['sdk-<i0>'], (t) => `LDClient.init("${t}")`),
  own('prefect', ['pnu_<w36>'], (t) => `prefect cloud login -k ${t}`),
  own('infracost', ['ico-<w32>'], (t) => ['version: "0.1"', `api_key: ${t}`]),
  own('harness', ['pat.<u22>.<h24>.<w20>'], (t) => `x-api-key: ${t}`),
  own(
    'onepassword-service',
    [`ops_${base64url('{"signInAddress":"acme.1password.com","userAuth":')}<u300>`],
    (t) => `export OP_SERVICE_ACCOUNT_TOKEN=${t}`,
  ),
  own('onepassword-secret-key', ['A3-<A6>-<A11>-<A5>-<A5>-<A5>'], (t) => `Secret Key: ${t}`),
  own('okta-ssws', ['00<u40>'], (t) => `Authorization: SSWS ${t}`),
  own('age-identity', ['AGE-SECRET-KEY-1<B58>'], (t) => [
    '# created: 2024-06-11T08:14:02Z',
    '# public key: age1lvyvwawkr0mcnnnncaghunadrqkmuf9e6507x9y920xxpp866cnql7dp2z',
    t,
  ]),
  own('age-identity-env', ['AGE-SECRET-KEY-1<B58>'], (t) => `SOPS_AGE_KEY="${t}" sops -d secrets.enc.yaml`),

  // JSON web tokens.
  own('jwt-cookie', ['<j43>'], (t) => `Set-Cookie: auth=${t}; Path=/; HttpOnly; Secure; SameSite=Lax`),
  own('jwt-bearer', ['<j342>'], (t) => `< authorization: Bearer ${t}`),
  own('jwt-query', ['<j43>'], (t) => `GET /ws?v=2&jwt=${t}&room=lobby HTTP/1.1`),
  own('jwt-log-bare', ['<j43>'], (t) => `verify: signature mismatch for ${t}, kid=main`),
  own('jwt-supabase-service', ['<j43>'], (t) => `SUPABASE_SERVICE_ROLE_KEY=${t}`),
  own('jwt-kubernetes', ['<j342>'], (t) => ['users:', '- name: ci', '  user:', `    token: ${t}`]),
  own('jwt-windows-path', ['<j43>'], (t) => `copy C:\\Users\\mquell\\tokens\\${t}\\id.txt D:\\old\\`),
  own(
    'github-windows-path',
    ['ghp_<g30>'],
    (t) => `C:\\ci\\cache\\${t}\\config: The system cannot find the path specified.`,
  ),
  own('github-html-comment', ['ghp_<g30>'], (t) => `<!-- TODO remove before release: ${t} -->`),
  own('stripe-xml', ['sk_live_<w24>'], (t) => [
    '<payment>',
    '  <provider>stripe</provider>',
    `  <apiKey>${t}</apiKey>`,
    '</payment>',
  ]),
  own('npm-brackets', ['npm_<g30>'], (t) => `login: using [${t}] for <https://registry.npmjs.org>`),
  own('slack-ini-comment', ['xoxb-<d12>-<d13>-<w24>'], (t) => [
    '[alerts]',
    `; was ${t} until May`,
    'channel = #ops',
  ]),
  own('aws-ansi-glued', ['AKIA<t16>'], (t) => `key ${ESC}[36m${t}${ESC}[39m is 412 days old`),
  own('openai-cyrillic', ['sk-proj-<u74>T3BlbkFJ<u74>'], (t) => `ключ:${t}, проверь его сам`),
  own('groq-chinese', ['gsk_<w52>'], (t) => `密钥是${t}。请勿外传`),
];

const BY_NAME: readonly HeldOutShape[] = [
  // Environment and shell.
  named('env-password', ['hunter2!x'], (p) => ['DB_HOST=10.0.4.7', `DB_PASSWORD=${p}`, 'DB_NAME=shop']),
  named('env-password-brackets', ['Summer(2024)'], (p) => `ADMIN_PASSWORD=${p}`),
  named('env-password-quoted-spaces', ['correct horse battery staple'], (p) => `VAULT_PASSPHRASE="${p}"`),
  named('env-password-hash', ['9!pL#kk2@zz'], (p) => `SMTP_PASS='${p}'`),
  named('env-export-secret', ['<w48>'], (p) => `export SESSION_SECRET=${p}`),
  named('env-api-key-plain', ['<h32>'], (p) => `WEATHER_API_KEY=${p}`),
  named('env-windows-set', ['Wint3r-is-here'], (p) => `C:\\> set MYSQL_PWD=${p}`),
  named('env-powershell', ['Kölner.Dom_77'], (p) => `$env:DEPLOY_PASSWORD = "${p}"`),
  named('env-fish', ['<w24>'], (p) => `set -gx CODECOV_TOKEN ${p}`),
  named('env-dump', ['<w24>', 'Tr0ub4dor&3'], (t, p) => [
    'HOME=/root',
    `RAILWAY_TOKEN=${t}`,
    'SHLVL=1',
    `PGPASSWORD=${p}`,
    'TERM=xterm-256color',
  ]),
  named(
    'env-inline-before-command',
    ['s3cr3t%pw'],
    (p) => `PGPASSWORD=${p} pg_dump -h db.internal -U app shop > shop.sql`,
  ),
  named('env-rails-master-key', ['<h32>'], (p) => `RAILS_MASTER_KEY=${p} bin/rails credentials:edit`),
  named('env-django', ['django-insecure-<a30>!@$%'], (p) => `SECRET_KEY = '${p}'`),
  named('env-laravel', ['<b43>='], (p) => ['APP_ENV=production', `APP_KEY=base64:${p}`]),
  named('env-cookie-secret', ['<u40>'], (p) => `NEXTAUTH_SECRET=${p}`),
  named('env-encryption-key', ['<h64>'], (p) => `ENCRYPTION_KEY=${p}`),

  // Flags.
  named(
    'flag-password-space',
    ['gr3en-Tea_pot'],
    (p) => `$ restic-helper --user mq --password ${p} --verbose`,
  ),
  named('flag-password-equals', ['ch1ps+V1negar'], (p) => `./import.sh --password=${p} --dry-run`),
  named(
    'flag-password-quoted',
    ["it's-4-test"],
    (p) => `deployctl login --password "${p}" --url https://d.example.org`,
  ),
  named('flag-mysql-p', ['Zx81Spectrum'], (p) => `mysql -uroot -p${p} -h db.internal shop`),
  named(
    'flag-sshpass',
    ['b1gRedB0at'],
    (p) => `sshpass -p ${p} ssh -o StrictHostKeyChecking=no deploy@10.0.4.9`,
  ),
  named(
    'flag-curl-user',
    ['pa55-for-nexus'],
    (p) => `curl -fsSL -u deployer:${p} https://nexus.example.org/repository/raw/app.tgz`,
  ),
  named('flag-wget', ['k33p0ut-now'], (p) => `wget --user=mq --password=${p} ftp://files.example.org/a.zip`),
  named('flag-token', ['<w40>'], (p) => `codecov upload-process --token ${p} -F unit`),
  named(
    'flag-client-secret',
    ['<u40>'],
    (p) =>
      `oauth2c https://id.example.org --client-id web --client-secret ${p} --grant-type client_credentials`,
  ),
  named('flag-redis-a', ['r3dis.pass.word'], (p) => `redis-cli -h cache.internal -a ${p} PING`),
  named('flag-openssl', ['0penSesame!'], (p) => `openssl pkcs12 -in id.p12 -passin pass:${p} -nodes`),
  named('flag-keytool', ['changeit-N0T'], (p) => `keytool -list -keystore app.jks -storepass ${p}`),
  named(
    'flag-docker-e',
    ['my5ql-R00t'],
    (p) => `docker run -d -e MYSQL_ROOT_PASSWORD=${p} -p 3306:3306 mysql:8`,
  ),
  named(
    'flag-kubectl-literal',
    ['blue.Wh4le'],
    (p) => `kubectl create secret generic db --from-literal=password=${p}`,
  ),
  named(
    'flag-java-property',
    ['Tr3ffpunkt-9'],
    (p) => `java -Djavax.net.ssl.keyStorePassword=${p} -jar app.jar`,
  ),
  named('flag-htpasswd', ['nginx-D00r'], (p) => `htpasswd -bc /etc/nginx/.htpasswd admin ${p}`),
  named(
    'flag-smbclient',
    ['Fr1day%night'],
    (p) => `mount -t cifs //nas/share /mnt -o username=mq,password=${p},vers=3.0`,
  ),

  // Headers and cookies.
  named('header-bearer-opaque', ['<u43>'], (p) => `Authorization: Bearer ${p}`),
  named(
    'header-bearer-curl',
    ['<w32>'],
    (p) => `curl -H 'authorization: bearer ${p}' https://api.example.org/v1/me`,
  ),
  named(
    'header-bearer-json',
    ['<h40>'],
    (p) => `{"headers":{"Authorization":"Bearer ${p}","Accept":"application/json"}}`,
  ),
  named(
    'header-bearer-python-dict',
    ['<w40>'],
    (p) => `{'Authorization': 'Bearer ${p}', 'User-Agent': 'requests/2.31.0'}`,
  ),
  named('header-token', ['<h40>'], (p) => `Authorization: Token ${p}`),
  named('header-x-api-key', ['<w32>'], (p) => `X-Api-Key: ${p}`),
  named('header-proxy-basic', ['<b26>=='], (p) => `Proxy-Authorization: Basic ${p}`),
  named(
    'header-digest',
    ['<h32>'],
    (p) => `Authorization: Digest username="mq", realm="ops", nonce="dcd98b71", uri="/", response="${p}"`,
  ),
  named('header-cookie-session', ['<w32>'], (p) => `Cookie: theme=dark; session=${p}; lang=de`),
  named('header-cookie-php', ['<a26>'], (p) => `Cookie: PHPSESSID=${p}`),
  named(
    'header-cookie-connect',
    ['s%3A<u32>.<w43>'],
    (p) => `cookie: connect.sid=${p}; _ga=GA1.2.481516.1718000000`,
  ),
  named('header-set-cookie-java', ['<H32>'], (p) => `Set-Cookie: JSESSIONID=${p}; Path=/; HttpOnly`),
  named('header-csrf', ['<b43>='], (p) => `X-CSRF-Token: ${p}`),
  named('header-hmac', ['<h64>'], (p) => `X-Shared-Secret: ${p}`),
  named('header-http-dump', ['<w36>'], (p) => [
    'POST /graphql HTTP/1.1',
    'Host: api.example.org',
    `X-Auth-Token: ${p}`,
    'Content-Length: 41',
    '',
    '{"query":"{ viewer { login } }"}',
  ]),

  // JSON, YAML, TOML, INI, XML, properties.
  named('json-password', ['P@$$w0rd-1x'], (p) => `{"user":"mquell","password":"${p}","remember":true}`),
  named('json-password-spaced', ['yellow Submarine 9'], (p) => [
    '{',
    '  "smtp": {',
    '    "host": "mail.example.org",',
    `    "password" : "${p}"`,
    '  }',
    '}',
  ]),
  named(
    'json-client-secret',
    ['<u40>'],
    (p) => `{"client_id":"web","client_secret":"${p}","grant_type":"authorization_code"}`,
  ),
  named('json-camel', ['<w30>'], (p) => `{ "apiSecret": "${p}", "region": "eu" }`),
  named(
    'json-escaped-in-log',
    ['0ld.Sch00l'],
    (p) => `{"msg":"body={\\"login\\":\\"mq\\",\\"password\\":\\"${p}\\"}","status":401}`,
  ),
  named(
    'json-access-token',
    ['<w64>'],
    (p) => `{"access_token": "${p}", "token_type": "Bearer", "expires_in": 3600}`,
  ),
  named(
    'json-private-key-field',
    ['<h64>'],
    (p) => `{"address":"0x52908400098527886E0F7030069857D2E4169EE7","privateKey":"0x${p}"}`,
  ),
  named('yaml-password', ['Hamster.7rad'], (p) => [
    'database:',
    '  user: app',
    `  password: ${p}`,
    '  pool: 5',
  ]),
  named('yaml-upper', ['Gr4nd-Hotel'], (p) => ['environment:', `  DB_PASSWORD: ${p}`, '  TZ: Europe/Berlin']),
  named('yaml-list-env', ['M0nday*Blues'], (p) => [
    'env:',
    '  - name: POSTGRES_PASSWORD',
    `    value: "${p}"`,
  ]),
  named('yaml-compose-list', ['p0stgr3s-local'], (p) => [
    'services:',
    '  db:',
    '    environment:',
    `      - POSTGRES_PASSWORD=${p}`,
  ]),
  named('yaml-single-quoted', ["don''t-t3ll"], (p) => `ftp_password: '${p}'`),
  named('yaml-ansible', ['R00t_of_all'], (p) => `ansible_become_pass: ${p}`),
  named('yaml-kubeconfig-token', ['<w40>'], (p) => ['users:', '- name: admin', '  user:', `    token: ${p}`]),
  named('yaml-kubeconfig-basic', ['C1uster-Adm1n'], (p) => [
    '  user:',
    '    username: admin',
    `    password: ${p}`,
  ]),
  named('toml-password', ['t0ml-Pa55'], (p) => ['[database]', 'username = "app"', `password = "${p}"`]),
  named('toml-secret-comment', ['<w40>'], (p) => `# secret_key = "${p}"`),
  named('ini-mycnf', ['cnf!Pass9'], (p) => ['[client]', 'user=backup', `password=${p}`, 'host=db.internal']),
  named('ini-mycnf-quoted', ['a#b;c-D4'], (p) => ['[mysqldump]', `password = "${p}"`]),
  named('ini-grafana', ['gr4f-Admin-x'], (p) => [
    '[security]',
    'admin_user = admin',
    `admin_password = ${p}`,
  ]),
  named('properties-spring', ['Sprung_im-Mai1'], (p) => [
    'spring.datasource.username=app',
    `spring.datasource.password=${p}`,
  ]),
  named('properties-gradle', ['keyst0re.Pw'], (p) => `RELEASE_STORE_PASSWORD=${p}`),
  named('xml-maven-settings', ['mv3n-Deploy'], (p) => [
    '<server>',
    '  <id>releases</id>',
    '  <username>ci</username>',
    `  <password>${p}</password>`,
    '</server>',
  ]),
  named('xml-attribute', ['N3t.Frame'], (p) => `<add key="SmtpPassword" value="${p}" />`),
  named('xml-wpa', ['kaffee-und-kuchen'], (p) => ['network={', '  ssid="Buero"', `  psk="${p}"`, '}']),
  named('php-define', ['wp-S3cure,yes'], (p) => `define( 'DB_PASSWORD', '${p}' );`),
  named('php-salt', ['<w20>|&<w20>+<w20>'], (p) => `define('AUTH_KEY', '${p}');`),
  named(
    'ruby-hash',
    ['ruby-R3d'],
    (p) => `ActionMailer::Base.smtp_settings = { user_name: "mq", password: "${p}" }`,
  ),
  named(
    'python-kwarg',
    ['py-Th0n'],
    (p) => `conn = psycopg2.connect(host="db", user="app", password="${p}")`,
  ),
  named('go-struct', ['g0pher-Hole'], (p) => `opts := &redis.Options{Addr: "cache:6379", Password: "${p}"}`),
  named('java-setter', ['J4va-Bean'], (p) => `dataSource.setPassword("${p}");`),
  named('rust-const', ['<w40>'], (p) => `const API_SECRET: &str = "${p}";`),
  named(
    'javascript-object',
    ['n0de-Red!'],
    (p) => `const pool = mysql.createPool({ host: 'db', user: 'app', password: '${p}' });`,
  ),
  named(
    'csharp-credential',
    ['C-sh4rp!'],
    (p) => `var cred = new NetworkCredential("mq", "${p}"); // password`,
  ),
  named('terraform-variable', ['t3rra-F1rma'], (p) => [
    'resource "aws_db_instance" "main" {',
    '  username = "app"',
    `  password = "${p}"`,
    '}',
  ]),
  named('terraform-tfvars', ['<w32>'], (p) => `github_app_secret = "${p}"`),
  named('dockerfile-env', ['d0cker-Layer'], (p) => `ENV REDIS_PASSWORD=${p} NODE_ENV=production`),
  named('dockerfile-env-space', ['d0cker-Old'], (p) => `ENV ADMIN_PASSWORD ${p}`),
  named('diff-password', ['old-Pa55word', 'new-Pa55word'], (a, b) => [
    '--- a/config/app.yml',
    '+++ b/config/app.yml',
    '@@ -4 +4 @@',
    `-  password: ${a}`,
    `+  password: ${b}`,
  ]),

  // Files with a form of their own.
  named('netrc', ['netrc-Pa55'], (p) => `machine ftp.example.org login mq password ${p}`),
  named('netrc-lines', ['netrc-L1nes'], (p) => ['machine git.example.org', 'login mq', `password ${p}`]),
  named('pgpass', ['pgpass-W0rd'], (p) => `db.internal:5432:shop:app:${p}`),
  named('npmrc-auth-token', ['<i0>'], (p) => `//npm.example.org/:_authToken=${p}`),
  named('npmrc-password', ['<b27>='], (p) => [
    '//npm.example.org/:username=mq',
    `//npm.example.org/:_password="${p}"`,
  ]),
  named('npmrc-auth', ['<b32>'], (p) => `_auth=${p}`),
  named('redis-requirepass', ['f00bared-Not'], (p) => [
    'bind 127.0.0.1',
    `requirepass ${p}`,
    'maxmemory 256mb',
  ]),
  named('redis-masterauth', ['r3plica-Auth'], (p) => `masterauth ${p}`),
  named('htpasswd-line', ['$apr1$<w8>$<w22>'], (p) => `admin:${p}`),
  named('htpasswd-bcrypt', ['$2y$10$<w53>'], (p) => `mquell:${p}`),
  named('shadow-line', ['$6$<w16>$<w86>'], (p) => `root:${p}:19800:0:99999:7:::`),
  named(
    'odbc-pwd',
    ['0dbc-Sql!'],
    (p) => `Driver={ODBC Driver 18 for SQL Server};Server=tcp:db,1433;Uid=sa;Pwd=${p};Encrypt=yes;`,
  ),
  named(
    'ado-password',
    ['Ad0.Net+9'],
    (p) =>
      `"DefaultConnection": "Server=db;Database=Shop;User Id=sa;Password=${p};TrustServerCertificate=True"`,
  ),
  named(
    'libpq-keywords',
    ['libpq-K3y'],
    (p) => `psql "host=db.internal dbname=shop user=app password=${p} sslmode=require"`,
  ),
  named('snowflake', ['Sn0w-Fl4ke'], (p) => [
    '[connections.dev]',
    'account = "ab12345.eu-central-1"',
    `password = "${p}"`,
  ]),
  named('sql-create-user', ['Cr34te-Me'], (p) => `CREATE USER 'app'@'%' IDENTIFIED BY '${p}';`),
  named('sql-alter-role', ['Alt3r-Ego'], (p) => `ALTER ROLE app WITH LOGIN PASSWORD '${p}';`),
  named('msmtprc', ['msmtp-Ma1l'], (p) => ['account default', 'user mq@example.org', `password ${p}`]),
  named('fastlane', ['<l4>-<l4>-<l4>-<l4>'], (p) => `FASTLANE_APPLE_APPLICATION_SPECIFIC_PASSWORD=${p}`),
  named('wireguard', ['<b43>='], (p) => ['[Interface]', `PrivateKey = ${p}`, 'Address = 10.8.0.2/24']),
  named('wireguard-psk', ['<b43>='], (p) => ['[Peer]', `PresharedKey = ${p}`, 'AllowedIPs = 0.0.0.0/0']),
  named('totp-seed', ['<t32>'], (p) => `otpauth://totp/Acme:mq?secret=${p}&issuer=Acme`),
  named('rndc-key', ['<b43>='], (p) => [
    'key "rndc-key" {',
    '  algorithm hmac-sha256;',
    `  secret "${p}";`,
    '};',
  ]),

  // Services whose keys have no mark.
  named('mistral', ['<w32>'], (p) => `MISTRAL_API_KEY=${p}`),
  named('cohere', ['<w40>'], (p) => `co = cohere.Client(api_key="${p}")`),
  named('azure-openai', ['<h32>'], (p) => [
    'AZURE_OPENAI_ENDPOINT=https://acme.openai.azure.com',
    `AZURE_OPENAI_API_KEY=${p}`,
  ]),
  named('datadog-pair', ['<h32>', '<h40>'], (a, b) => [
    `DD_API_KEY=${a}`,
    `DD_APP_KEY=${b}`,
    'DD_SITE=datadoghq.eu',
  ]),
  named('cloudflare-token', ['<u40>'], (p) => `CLOUDFLARE_API_TOKEN=${p} npx wrangler deploy`),
  named('cloudflare-global', ['<h37>'], (p) => ['X-Auth-Email: m.quell@example.org', `X-Auth-Key: ${p}`]),
  named('twilio-auth', ['<h32>'], (t) => [
    'TWILIO_ACCOUNT_SID=AC00000000000000000000000000000000',
    `TWILIO_AUTH_TOKEN=${t}`,
  ]),
  named('algolia-admin', ['<h32>'], (p) => `ALGOLIA_ADMIN_KEY: ${p}`),
  named('auth0', ['<u64>'], (p) => `AUTH0_CLIENT_SECRET='${p}'`),
  named('okta-client', ['<u40>'], (p) => `okta.oauth2.client-secret=${p}`),
  named('wandb', ['<h40>'], (p) => `wandb login --relogin --key=${p}`),
  named('vercel-plain', ['<w24>'], (p) => `VERCEL_TOKEN: ${p}`),
  named('twitter-consumer', ['<w50>'], (p) => `consumer_secret = "${p}"`),
  named('paypal-secret', ['E<u79>'], (p) => `PAYPAL_CLIENT_SECRET=${p}`),

  // Logs and prose.
  named(
    'log-login-attempt',
    ['Sup3r*Man'],
    (p) => `2024-06-11 08:14:02 WARN  login failed user=mquell password=${p} ip=10.0.4.7`,
  ),
  named('log-colon', ['Sup3r*Girl'], (p) => `[auth] Password: ${p}`),
  named('log-initial-root-password', ['<b43>='], (p) => `Initial root Password: ${p}`),
  named('log-ansi-name', ['br1ght-C0lour'], (p) => `${ESC}[90mpassword${ESC}[0m=${ESC}[32m${p}${ESC}[0m`),
  named(
    'log-python-repr',
    ['r3pr-Secret'],
    (p) => `TypeError: connect() got an unexpected keyword; called with {'user': 'app', 'password': '${p}'}`,
  ),
  named(
    'log-elixir',
    ['el1xir-Drop'],
    (p) => `** (DBConnection.Error) opts: [hostname: "db", password: "${p}", pool_size: 10]`,
  ),
  named(
    'log-ruby-rocket',
    ['r0cket-Hash'],
    (p) => `Parameters: {"user"=>{"email"=>"mq@example.org", "password"=>"${p}"}}`,
  ),
  named(
    'log-urlencoded-body',
    ['f0rm-B0dy'],
    (p) => `POST /login body: username=mq&password=${p}&submit=Log+in`,
  ),
  named(
    'prose-password-is',
    ['Gl4ss-Onion'],
    (p) => `The staging password is ${p}, please change it after the demo.`,
  ),
  named('markdown-table-password', ['m4rkd0wn-Pw'], (p) => [
    '| host | user | password |',
    '|---|---|---|',
    `| db-1 | app | ${p} |`,
  ]),
  named('german-name', ['Schl0ssgarten'], (p) => `Passwort: ${p}`),
  named('backticks-password', ['b4cktick-Pw'], (p) => `Log in as \`admin\` with password \`${p}\`.`),
  named(
    'two-on-one-line',
    ['f1rst-Pw', 's3cond-Pw'],
    (a, b) => `src_password=${a} dst_password=${b} mode=copy`,
  ),
];

const URLS: readonly HeldOutShape[] = [
  url(
    'postgres',
    ['pg-Pa55w0rd'],
    (p) => `DATABASE_URL=postgres://app:${p}@db.internal:5432/shop?sslmode=require`,
  ),
  url('postgres-special', ['p!q$r*s(t)u'], (p) => `psql 'postgresql://app:${p}@db.internal/shop'`),
  url(
    'postgres-punctuation',
    ['a;b,c+d=e~f'],
    (p) => `connecting to postgresql://app:${p}@10.0.4.7:5432/shop failed`,
  ),
  url('postgres-at-in-password', ['in@the@middle9'], (p) => `DSN: postgres://app:${p}@db.internal/shop`),
  url(
    'postgres-async',
    ['as1nc-Pw'],
    (p) => `engine = create_async_engine("postgresql+asyncpg://app:${p}@db/shop")`,
  ),
  url('mysql', ['my-Pa55'], (p) => `mysql2://root:${p}@127.0.0.1:3306/shop?reconnect=true`),
  url(
    'mysql-go-dsn',
    ['g0-Dsn-Pw'],
    (p) => `sql.Open("mysql", "app:${p}@tcp(db.internal:3306)/shop?parseTime=true")`,
  ),
  url(
    'mongodb-srv',
    ['m0ngo-Pw'],
    (p) => `mongodb+srv://app:${p}@cluster0.ab12c.mongodb.net/?retryWrites=true&w=majority`,
  ),
  url(
    'mongodb-several-hosts',
    ['m0ngo-Many'],
    (p) => `mongodb://app:${p}@m1.internal:27017,m2.internal:27017/shop?replicaSet=rs0`,
  ),
  url('redis-no-user', ['r3dis-Pw'], (p) => `REDIS_URL=redis://:${p}@cache.internal:6379/0`),
  url('rediss', ['<w32>'], (p) => `rediss://default:${p}@eu1-acme-38213.upstash.io:38213`),
  url('amqp', ['r4bbit-Mq'], (p) => `amqps://svc:${p}@mq.internal:5671/%2Fprod`),
  url(
    'jdbc-postgres',
    ['jdbc-Pg1'],
    (p) => `jdbc:postgresql://db.internal:5432/shop?user=app&password=${p}&ssl=true`,
  ),
  url('jdbc-mysql', ['jdbc-My1'], (p) => `url: "jdbc:mysql://db:3306/shop?user=app&password=${p}"`),
  url(
    'jdbc-sqlserver',
    ['jdbc-Ms1!'],
    (p) => `jdbc:sqlserver://db:1433;databaseName=shop;user=sa;password=${p};encrypt=true`,
  ),
  url('jdbc-oracle', ['t1ger-Lily'], (p) => `jdbc:oracle:thin:scott/${p}@//ora.internal:1521/ORCL`),
  url(
    'https-basic',
    ['web-Pa55'],
    (p) => `git remote add origin https://mquell:${p}@git.example.org/acme/shop.git`,
  ),
  url(
    'https-token-user',
    ['<w40>'],
    (p) => `remote: https://${p}:x-oauth-basic@git.example.org/acme/shop.git`,
  ),
  url(
    'https-in-git-error',
    ['<w32>'],
    (p) =>
      `fatal: unable to access 'https://oauth2:${p}@git.example.org/acme/shop.git/': The requested URL returned error: 403`,
  ),
  url(
    'pip-index',
    ['<u40>'],
    (p) => `pip install --extra-index-url https://build:${p}@pypi.example.org/simple/ acme-core`,
  ),
  url('ftp', ['ftp-Pa55'], (p) => `lftp ftp://backup:${p}@files.example.org`),
  url('sftp', ['sftp-Pa55'], (p) => `sftp://backup:${p}@files.example.org:2222/upload`),
  url('smtp', ['smtp-Pa55'], (p) => `MAILER_DSN=smtp://user:${p}@mail.example.org:587?encryption=tls`),
  url('ldap', ['ld4p-Bind'], (p) => `ldaps://cn=admin:${p}@ldap.example.org:636`),
  url('proxy', ['pr0xy-Pw'], (p) => `export https_proxy=http://mq:${p}@proxy.example.org:3128`),
  url('clickhouse', ['cl1ck-House'], (p) => `clickhouse://default:${p}@ch.internal:9000/events`),
  url('kafka-registry', ['sch3ma-Reg'], (p) => `schema.registry.url=https://svc:${p}@registry.internal:8081`),
  url('nats', ['n4ts-Pw'], (p) => `nats://svc:${p}@nats.internal:4222`),
  url(
    'sas-query',
    ['<w20>%2B<w21>%3D'],
    (p) =>
      `https://acmelogs.blob.core.windows.net/logs/app.log?sv=2022-11-02&ss=b&srt=sco&sp=r&se=2024-12-31T23:59:59Z&sig=${p}`,
  ),
  url(
    'sas-plain',
    ['<b43>='],
    (p) => `azcopy copy ./out "https://acmelogs.blob.core.windows.net/c?sv=2022-11-02&sr=c&sig=${p}"`,
  ),
  url(
    's3-presigned',
    ['<h64>'],
    (p) =>
      `https://acme.s3.amazonaws.com/a.zip?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=900&X-Amz-SignedHeaders=host&X-Amz-Signature=${p}`,
  ),
  url(
    'gcs-presigned',
    ['<h256>'],
    (p) =>
      `https://storage.googleapis.com/acme/a.zip?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Signature=${p}`,
  ),
  url(
    'query-access-token',
    ['<w40>'],
    (p) => `GET /v1/items?limit=20&access_token=${p}&page=2 HTTP/1.1" 200 512`,
  ),
  url(
    'query-api-key',
    ['<h32>'],
    (p) => `fetch("https://api.openweathermap.org/data/2.5/weather?q=Kiel&appid=12&api_key=${p}")`,
  ),
  url(
    'query-token-fragment',
    ['<u48>'],
    (p) => `https://app.example.org/callback#access_token=${p}&token_type=bearer&expires_in=3600`,
  ),
  url(
    'query-client-secret',
    ['<w32>'],
    (p) => `https://id.example.org/token?client_id=web&client_secret=${p}`,
  ),
  url('query-password', ['qu3ry-Pw'], (p) => `[nginx] "GET /login?user=mq&password=${p} HTTP/1.1" 302`),
  url('reset-link', ['<u43>'], (p) => `Reset your password: https://app.example.org/reset?token=${p}`),
  url('zapier-hook', ['<d7>/<a7>'], (p) => `https://hooks.zapier.com/hooks/catch/${p}/`),
  url('oauth-code', ['4/0A<u70>'], (p) => `http://localhost:8080/?state=xyz&code=${p}&scope=email`),
  url(
    'markdown-link',
    ['m4rk-Link'],
    (p) => `See [the dashboard](https://viewer:${p}@grafana.example.org/d/abc).`,
  ),
  url('angle-brackets', ['angl3-Pw'], (p) => `<https://ci:${p}@jenkins.example.org/job/shop>`),
  url('json-slashes-escaped', ['sl4sh-Pw'], (p) => `{"url":"https:\\/\\/ci:${p}@jenkins.example.org\\/job"}`),
  url('url-with-ansi', ['c0lour-Pw'], (p) => `${ESC}[34mpostgres://app:${p}@db.internal/shop${ESC}[0m`),
];

const RSA = 'MIIEpAIBAAKCAQEA';

const KEY_BLOCKS: readonly HeldOutShape[] = [
  key('pem-rsa', [`${RSA}<b48>`, '<b64>', '<b64>', '<b30>=='], (...l) => [
    begin('RSA PRIVATE KEY'),
    ...l,
    end('RSA PRIVATE KEY'),
  ]),
  key('pem-pkcs8', ['MIIEvQIBADANBgkqhkiG9w0BAQEFAASC<b32>', '<b64>', '<b64>', '<b23>='], (...l) => [
    begin('PRIVATE KEY'),
    ...l,
    end('PRIVATE KEY'),
  ]),
  key('pem-encrypted', ['MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkq<b32>', '<b64>', '<b40>'], (...l) => [
    begin('ENCRYPTED PRIVATE KEY'),
    ...l,
    end('ENCRYPTED PRIVATE KEY'),
  ]),
  key('pem-ec', ['MHcCAQEEI<b55>', '<b64>', '<b34>=='], (...l) => [
    begin('EC PRIVATE KEY'),
    ...l,
    end('EC PRIVATE KEY'),
  ]),
  key('pem-dsa', ['MIIBuwIBAAKBgQ<b50>', '<b64>', '<b12>'], (...l) => [
    begin('DSA PRIVATE KEY'),
    ...l,
    end('DSA PRIVATE KEY'),
  ]),
  key('pem-ed25519', ['MC4CAQAwBQYDK2VwBCIEI<b43>'], (l) => [begin('PRIVATE KEY'), l, end('PRIVATE KEY')]),
  key('pem-openssh', ['<b70>', '<b70>', '<b70>', '<b26>=='], (...l) => [
    begin('OPENSSH PRIVATE KEY'),
    ...l,
    end('OPENSSH PRIVATE KEY'),
  ]),
  key('pem-legacy-headers', ['<b64>', '<b64>', '<b50>=='], (...l) => [
    begin('RSA PRIVATE KEY'),
    'Proc-Type: 4,ENCRYPTED',
    'DEK-Info: AES-128-CBC,7B3C0F1E2D4A596887A6B5C4D3E2F100',
    '',
    ...l,
    end('RSA PRIVATE KEY'),
  ]),
  key('pem-cut-off', [`${RSA}<b48>`, '<b64>', '<b64>'], (...l) => [
    '$ head -4 id_rsa',
    begin('RSA PRIVATE KEY'),
    ...l,
  ]),
  key('pem-indented-yaml', [`${RSA}<b48>`, '<b64>', '<b44>'], (...l) => [
    'tls:',
    '  key: |',
    `    ${begin('RSA PRIVATE KEY')}`,
    ...l.map((line) => `    ${line}`),
    `    ${end('RSA PRIVATE KEY')}`,
  ]),
  key('pem-json-newlines', ['MIIEvAIBADANBgkqhkiG9w0BAQEFAASC<b32>', '<b64>', '<b48>'], (...l) => [
    '{',
    '  "type": "service_account",',
    '  "project_id": "acme-prod",',
    `  "private_key": "${begin('PRIVATE KEY')}\\n${l.join('\\n')}\\n${end('PRIVATE KEY')}\\n",`,
    '  "client_email": "ci@acme-prod.iam.gserviceaccount.com"',
    '}',
  ]),
  key(
    'pem-env-one-line',
    ['MIIEvAIBADANBgkqhkiG9w0BAQEFAASC<b32>', '<b64>'],
    (...l) => `PRIVATE_KEY="${begin('PRIVATE KEY')}\\n${l.join('\\n')}\\n${end('PRIVATE KEY')}\\n"`,
  ),
  key(
    'pem-json-twice-escaped',
    ['MIIEvAIBADANBgkqhkiG9w0BAQEFAASC<b32>', '<b64>'],
    (...l) =>
      `{"env":"{\\"KEY\\":\\"${begin('PRIVATE KEY')}\\\\n${l.join('\\\\n')}\\\\n${end('PRIVATE KEY')}\\\\n\\"}"}`,
  ),
  key('pem-crlf', [`${RSA}<b48>`, '<b64>', '<b20>'], (...l) =>
    [begin('RSA PRIVATE KEY'), ...l, end('RSA PRIVATE KEY')].join('\r\n'),
  ),
  key('pem-diff-added', [`${RSA}<b48>`, '<b64>', '<b36>'], (...l) => [
    '@@ -0,0 +1,5 @@',
    ...[begin('RSA PRIVATE KEY'), ...l, end('RSA PRIVATE KEY')].map((line) => `+${line}`),
  ]),
  key('pem-log-prefixed', ['<b64>', '<b64>', '<b20>'], (...l) =>
    [begin('EC PRIVATE KEY'), ...l, end('EC PRIVATE KEY')].map(
      (line) => `2024-06-11T08:14:02Z stdout ${line}`,
    ),
  ),
  key('pem-quoted-reply', ['<b64>', '<b64>', '<b20>'], (...l) =>
    [begin('PRIVATE KEY'), ...l, end('PRIVATE KEY')].map((line) => `> ${line}`),
  ),
  key('pem-heredoc', ['<b64>', '<b64>', '<b19>='], (...l) => [
    "cat > key.pem <<'X'",
    begin('PRIVATE KEY'),
    ...l,
    end('PRIVATE KEY'),
    'X',
    'chmod 600 key.pem',
  ]),
  key('pem-terraform-heredoc', ['<b64>', '<b64>'], (...l) => [
    'private_key = <<EOT',
    begin('RSA PRIVATE KEY'),
    ...l,
    end('RSA PRIVATE KEY'),
    'EOT',
  ]),
  key('pem-javascript-concatenated', ['<b64>', '<b64>'], (a, b) => [
    `const key = '${begin('PRIVATE KEY')}\\n' +`,
    `  '${a}\\n' +`,
    `  '${b}\\n' +`,
    `  '${end('PRIVATE KEY')}\\n';`,
  ]),
  key('pem-after-certificate', ['<b64>', '<b64>'], (...l) => [
    begin('CERTIFICATE'),
    'MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkq',
    end('CERTIFICATE'),
    begin('PRIVATE KEY'),
    ...l,
    end('PRIVATE KEY'),
  ]),
  key('pem-two-blocks', ['<b64>', '<b40>', '<b64>', '<b40>'], (a, b, c, d) => [
    begin('EC PRIVATE KEY'),
    a,
    b,
    end('EC PRIVATE KEY'),
    begin('EC PRIVATE KEY'),
    c,
    d,
    end('EC PRIVATE KEY'),
  ]),
  key('pem-xml', ['<b64>', '<b64>'], (...l) => [
    '<ds:Key>',
    begin('RSA PRIVATE KEY'),
    ...l,
    `${end('RSA PRIVATE KEY')}</ds:Key>`,
  ]),
  key('pgp', ['lQOYBGZn<b56>', '<b64>', '<b42>=='], (...l) => [
    begin('PGP PRIVATE KEY BLOCK'),
    'Comment: ci signing',
    '',
    ...l,
    '=aB3d',
    end('PGP PRIVATE KEY BLOCK'),
  ]),
  key('pgp-no-comment', ['lFgEZm<b58>', '<b64>', '<b28>'], (...l) => [
    '$ gpg --export-secret-keys -a ci',
    begin('PGP PRIVATE KEY BLOCK'),
    '',
    ...l,
    end('PGP PRIVATE KEY BLOCK'),
  ]),
  key('putty', ['<b64>', '<b48>', '<h64>'], (a, b, mac) => [
    'PuTTY-User-Key-File-3: ssh-ed25519',
    'Encryption: none',
    'Comment: mq@laptop',
    'Private-Lines: 2',
    a,
    b,
    `Private-MAC: ${mac}`,
  ]),
  key('putty-v2', ['<b64>', '<b64>', '<b44>'], (...l) => [
    'PuTTY-User-Key-File-2: ssh-rsa',
    'Encryption: none',
    'Comment: imported-openssh-key',
    'Private-Lines: 3',
    ...l,
    'Private-MAC: 0000',
  ]),
  key('ssh2-encrypted', ['<b70>', '<b70>'], (...l) => [
    '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----',
    'Comment: "rsa-key"',
    ...l,
    '---- END SSH2 ENCRYPTED PRIVATE KEY ----',
  ]),
  key('jwk', ['<u86>', '<u43>'], (n, d) => ['{"kty":"RSA","e":"AQAB",', ` "p":"${n}",`, ` "d":"${d}"}`]),
  key('kubernetes-client-key', [`${base64(begin('RSA PRIVATE KEY')).slice(0, 40)}<b118>==`], (k) => [
    '- name: admin',
    '  user:',
    `    client-key-data: ${k}`,
  ]),
];

const basic = (pair: string): string => base64(pair);
const hex = (text: string): string => Buffer.from(text).toString('hex');
const everyPercent = (text: string): string => [...text].map((c) => `%${hex(c).toUpperCase()}`).join('');
const unicodeEscaped = (text: string): string =>
  [...text].map((c) => `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`).join('');

const ENCODED: readonly HeldOutShape[] = [
  wrapped('basic-header', ['mquell:b4sic-Pa55w0rd'], basic, (s) => `Authorization: Basic ${s}`),
  wrapped(
    'basic-curl',
    ['svc:curl-Pa55w0rd!'],
    basic,
    (s) => `curl -H "Authorization: Basic ${s}" https://jenkins.example.org/api/json`,
  ),
  wrapped('basic-json', ['svc:js0n-Pa55w0rd'], basic, (s) => `{"headers":{"authorization":"Basic ${s}"}}`),
  wrapped('basic-empty-password', ['sk_live_<w24>:'], basic, (s) => `authorization: Basic ${s}`),
  wrapped('basic-lower-case-log', ['x:<w40>'], basic, (s) => `http.extraheader=authorization: basic ${s}`),
  wrapped('docker-config', ['mquell:d0cker-Hub-Pw'], basic, (s) => [
    '{ "auths": {',
    `  "https://index.docker.io/v1/": { "auth": "${s}" }`,
    '} }',
  ]),
  wrapped(
    'docker-config-token',
    ['oauth2:glpat-<u20>'],
    basic,
    (s) => `{"auths":{"registry.gitlab.example.org":{"auth":"${s}"}}}`,
  ),
  wrapped('docker-config-json-secret', ['{"auths":{"ghcr.io":{"auth":"<b40>"}}}'], base64, (s) => [
    'type: kubernetes.io/dockerconfigjson',
    'data:',
    `  .dockerconfigjson: ${s}`,
  ]),
  wrapped('kubernetes-secret', ['sup3r-S3cret-db', '<w40>'], base64, (a, b) => [
    'apiVersion: v1',
    'kind: Secret',
    'data:',
    `  password: ${a}`,
    `  api-token: ${b}`,
  ]),
  wrapped('kubernetes-secret-opaque-name', ['postgres://app:pg-Enc0ded@db/shop'], base64, (s) => [
    'kind: Secret',
    'type: Opaque',
    'data:',
    `  DATABASE_URL: ${s}`,
  ]),
  wrapped(
    'kubernetes-patch-json',
    ['patch-Pa55w0rd'],
    base64,
    (s) => `kubectl patch secret db -p '{"data":{"password":"${s}"}}'`,
  ),
  wrapped(
    'base64-github',
    ['ghp_<g30>'],
    base64,
    (s) => `$ echo ${s} | base64 -d | gh auth login --with-token`,
  ),
  wrapped('base64-openai', ['sk-proj-<u74>T3BlbkFJ<u74>'], base64, (s) => `OPENAI_API_KEY_B64=${s}`),
  wrapped('base64-slack', ['xoxb-<d12>-<d13>-<w24>'], base64, (s) => `slack_token_b64: "${s}"`),
  wrapped(
    'base64-stripe-python',
    ['sk_live_<w24>'],
    base64,
    (s) => `key = base64.b64decode("${s}").decode()`,
  ),
  wrapped(
    'base64-aws-javascript',
    ['AKIA<t16>:<b40>'],
    base64,
    (s) => `const creds = atob('${s}').split(':');`,
  ),
  wrapped(
    'base64url-gitlab',
    ['{"token":"glpat-<u20>","host":"gitlab.example.org"}'],
    base64url,
    (s) => `state=${s}&redirect=%2F`,
  ),
  wrapped(
    'base64-service-account',
    [
      `{"type":"service_account","private_key":"${begin('PRIVATE KEY')}\\nMIIEvAIB<b64>\\n${end('PRIVATE KEY')}\\n"}`,
    ],
    base64,
    (s) => `GOOGLE_CREDENTIALS=${s}`,
  ),
  wrapped(
    'base64-pem',
    [`${begin('RSA PRIVATE KEY')}\n${RSA}<b48>\n<b64>\n${end('RSA PRIVATE KEY')}\n`],
    base64,
    (s) => `DEPLOY_KEY_BASE64=${s}`,
  ),
  wrapped(
    'base64-env-file',
    ['DB_PASSWORD=env-F1le-Pw\nAPI_KEY=<w32>\n'],
    base64,
    (s) => `DOTENV_B64='${s}'`,
  ),
  wrapped('hex-github', ['ghp_<g30>'], hex, (s) => `token_hex=${s}`),
  wrapped('percent-every', ['p4ss/w@rd:1'], everyPercent, (s) => `postgres://app:${s}@db.internal:5432/shop`),
  wrapped(
    'percent-some',
    ['p4ss/w@rd#2'],
    encodeURIComponent,
    (s) => `DATABASE_URL=postgres://app:${s}@db.internal:5432/shop`,
  ),
  wrapped('percent-query', ['<b20>+/<b21>='], encodeURIComponent, (s) => `GET /hook?api_key=${s}&v=1`),
  wrapped(
    'percent-form',
    ['l0gin pa&ss=word'],
    encodeURIComponent,
    (s) => `user=mq&password=${s}&next=%2Fhome`,
  ),
  wrapped(
    'percent-url-in-url',
    ['https://ci:n3sted-Pw@git.example.org/a.git'],
    encodeURIComponent,
    (s) => `https://build.example.org/start?repo=${s}&ref=main`,
  ),
  wrapped(
    'percent-slack',
    ['https://hooks.slack.com/services/T<A10>/B<A10>/<w24>'],
    encodeURIComponent,
    (s) => `notify?url=${s}`,
  ),
  wrapped(
    'percent-telegram',
    ['7<d9>:AA<u33>'],
    encodeURIComponent,
    (s) => `https://proxy.example.org/tg?bot_token=${s}`,
  ),
  wrapped('unicode-escapes', ['un1code-Pw'], unicodeEscaped, (s) => `{"password":"${s}"}`),
  wrapped(
    'xml-entities',
    ['a&b<c>d"9'],
    (p) => p.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;'),
    (s) => `<password>${s}</password>`,
  ),
  wrapped(
    'json-escapes',
    ['q"uo\\te-Pw9'],
    (p) => JSON.stringify(p).slice(1, -1),
    (s) => `{"user":"mq","password":"${s}","ok":false}`,
  ),
  wrapped(
    'json-string-in-json',
    ['n3st"ed-Pw'],
    (p) => JSON.stringify(JSON.stringify(p).slice(1, -1)).slice(1, -1),
    (s) => `{"body":"{\\"password\\":\\"${s}\\"}"}`,
  ),
  wrapped(
    'shell-single-quote',
    ["it's-Pa55"],
    (p) => p.replace("'", `'\\''`),
    (s) => `mysqladmin -u root --password='${s}' status`,
  ),
  plain(
    'powershell-encoded-pair',
    ['<w20><w18>=='],
    (s) => `"Basic ${s}" | Set-Variable auth; Invoke-RestMethod -Headers @{Authorization=$auth}`,
  ),
  plain('npm-legacy-password', ['<b26>=='], (s) => [
    'registry=https://npm.example.org/',
    `//npm.example.org/:_password=${s}`,
    'always-auth=true',
  ]),
  plain('rails-encrypted-cookie', ['<b60>--<b16>--<b22>=='], (s) => `Cookie: _shop_session=${s}`),
  plain('flask-session', ['.eJ<u60>.Zm<u4>.<u27>'], (s) => `Cookie: session=${s}; tz=UTC`),
  plain(
    'laravel-encrypted-cookie',
    ['eyJpdiI6I<w127>%3D%3D'],
    (s) => `Set-Cookie: laravel_session=${s}; expires=Tue, 11-Jun-2024 10:14:02 GMT; httponly`,
  ),
];

export const SHAPES: readonly HeldOutShape[] = [...OWN_SHAPE, ...BY_NAME, ...URLS, ...KEY_BLOCKS, ...ENCODED];
