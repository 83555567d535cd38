/** Where a token may begin. STRICT also excludes `_` and `-` before it: "task-…" is not "sk-…". */
export type Boundary = 'loose' | 'strict';

/** Heads are separated by spaces. */
export type TokenRow = readonly [name: string, boundary: Boundary, heads: string, tail: string];

const UUID: string = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
export const END: string = '(?![A-Za-z0-9])';
/** Three digits among the first characters: no word and no name in code. */
const MIXED: string = '(?=(?:[A-Za-z_+/-]{0,24}\\d){3})';

export interface TokenShape {
  readonly name: string;
  readonly boundary: Boundary;
  /** Literals; every token begins with one of them. */
  readonly heads: readonly string[];
  /** A pattern for the rest: bounded, or one run that consumes all it can. */
  readonly tail: string;
}

export const asShapes = (rows: readonly TokenRow[]): readonly TokenShape[] =>
  rows.map(([name, boundary, heads, tail]) => ({ name, boundary, heads: heads.split(' '), tail }));

const MONITORING: readonly TokenRow[] = [
  ['grafana', 'loose', 'glsa_', '[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}'],
  ['grafana', 'loose', 'glc_', '[A-Za-z0-9+/=]{32,}'],
  ['newrelic', 'loose', 'NRAK- NRII- NRAA- NRRA-', '[A-Za-z0-9_-]{27,}'],
  ['sentry', 'loose', 'sntrys_ sntryu_ sntry_', '[A-Za-z0-9+/=_-]{40,}'],
  ['dynatrace', 'loose', 'dt0', '[a-z]\\d{2}\\.[A-Z0-9]{24}\\.[A-Z0-9]{64}'],
  ['posthog', 'loose', 'phc_ phx_', '[A-Za-z0-9]{30,}'],
  ['honeycomb', 'loose', 'hcaik_ hcalk_ hcamk_', '[a-z0-9]{50,}'],
  ['grafana', 'loose', 'eyJrIjoi', '[A-Za-z0-9+/]{50,}={0,2}'],
  ['pagerduty', 'strict', 'u+', `${MIXED}[A-Za-z0-9_+-]{18}${END}`],
  ['axiom', 'strict', 'xaat- xapt-', UUID],
  ['checkly', 'loose', 'cu_', `[0-9a-f]{32}${END}`],
  ['inngest', 'loose', 'signkey-', '[a-z]{2,12}-[0-9a-f]{60,}'],
  ['telnyx', 'loose', 'KEY', '[0-9A-F]{32}_[A-Za-z0-9]{20,}'],
];

const PEOPLE: readonly TokenRow[] = [
  [
    'slack',
    'loose',
    'xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxp- xoxe.xoxb- xwfp-',
    '[A-Za-z0-9%+/=_-]{10,}',
  ],
  ['slack', 'loose', 'xapp-', '\\d-[A-Za-z0-9-]{10,}'],
  ['slack_webhook', 'loose', 'hooks.slack.com/', '(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20,}'],
  [
    'discord_webhook',
    'loose',
    'discord.com/api/ discordapp.com/api/',
    '(?:v\\d{1,2}/)?webhooks/\\d{5,30}/[A-Za-z0-9_-]{60,}',
  ],
  [
    'discord',
    'strict',
    'MD MT Mj Mz ND NT Nj Nz OD OT',
    `[A-Za-z0-9_-]{22,26}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,38}${END}`,
  ],
  [
    'teams_webhook',
    'loose',
    'webhook.office.com/webhookb2/',
    `${UUID}@${UUID}/IncomingWebhook/[0-9a-f]{32}/${UUID}`,
  ],
  ['linear', 'loose', 'lin_api_ lin_oauth_', '[A-Za-z0-9]{32,}'],
  ['linkedin', 'loose', 'WPL_AP0. WPL_AP1.', '[A-Za-z0-9_-]{16}\\.[A-Za-z0-9_-]{6,8}(?:==)?'],
  ['notion', 'loose', 'secret_ ntn_', '[A-Za-z0-9]{40,}'],
  ['airtable', 'loose', 'pat', `[A-Za-z0-9]{14}\\.[0-9a-f]{64}${END}`],
  ['figma', 'loose', 'figd_ figo_ figu_', '[A-Za-z0-9_-]{40,}'],
  ['typeform', 'loose', 'tfp_', '[A-Za-z0-9_.=-]{40,}'],
  ['hubspot', 'strict', 'pat-na1- pat-na2- pat-eu1- pat-ap1-', UUID],
  ['dropbox', 'strict', 'sl. sl.u.', '[A-Za-z0-9_-]{100,}'],
  ['facebook', 'loose', 'EAA', `[A-Za-z0-9]{80,}${END}`],
  ['salesforce', 'loose', '00D', '[A-Za-z0-9]{12}(?:[A-Za-z0-9]{3})?![A-Za-z0-9._]{60,}'],
  ['mapbox', 'strict', 'sk.eyJ', '[A-Za-z0-9_-]{20,}\\.[A-Za-z0-9_-]{20,}'],
  ['adafruit', 'loose', 'aio_', `[A-Za-z0-9]{28}${END}`],
  ['discord', 'strict', 'mfa.', '[A-Za-z0-9_-]{60,}'],
  ['zapier_webhook', 'loose', 'hooks.zapier.com/hooks/', '[a-z]{2,16}/\\d{3,12}/[A-Za-z0-9]{5,}'],
  [
    'ifttt_webhook',
    'loose',
    'maker.ifttt.com/trigger/',
    '[^\\s/]{1,64}/(?:json/)?with/key/[A-Za-z0-9_-]{16,}',
  ],
  ['feishu_webhook', 'loose', 'open-apis/bot/', 'v2/hook/[A-Za-z0-9-]{20,}'],
  ['clickup', 'strict', 'pk_', `\\d{5,12}_[A-Z0-9]{32}${END}`],
  ['klaviyo', 'strict', 'pk_', `[0-9a-f]{34}${END}`],
  ['intercom', 'loose', 'dG9rO', '[A-Za-z0-9+/]{40,}={0,2}'],
  ['fcm', 'loose', 'AAAA', '[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{80,}'],
  ['twitter', 'loose', 'AAAAAAAAAAAAAAAAAAAAA', '(?=[A-Z]{0,8}[a-z0-9%])[A-Za-z0-9%]{50,}'],
  ['twitch', 'strict', 'oauth:', `${MIXED}[a-z0-9]{30}${END}`],
  ['cal', 'loose', 'cal_live_', '[0-9a-f]{30,}'],
];

const MONEY_AND_MAIL: readonly TokenRow[] = [
  ['stripe', 'strict', 'sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_', '[A-Za-z0-9]{10,}'],
  ['stripe', 'strict', 'whsec_', '[A-Za-z0-9+/=]{24,}'],
  ['square', 'loose', 'sq0atp- sq0csp- sq0idp-', '[A-Za-z0-9_-]{22,}'],
  ['shopify', 'loose', 'shpat_ shpca_ shppa_ shpss_', `[a-fA-F0-9]{32}${END}`],
  ['plaid', 'strict', 'access-production- access-sandbox- access-development-', UUID],
  ['razorpay', 'strict', 'rzp_live_ rzp_test_', `[A-Za-z0-9]{14}${END}`],
  ['easypost', 'loose', 'EZAK EZTK', `[A-Za-z0-9]{54}${END}`],
  ['shippo', 'strict', 'shippo_live_ shippo_test_', '[0-9a-f]{40}'],
  ['twilio', 'loose', 'SK', `[0-9a-f]{32}${END}`],
  ['sendgrid', 'loose', 'SG.', '[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{32,64}'],
  ['mailgun', 'strict', 'key-', `[0-9a-f]{32}${END}`],
  ['brevo', 'loose', 'xkeysib-', '[a-f0-9]{64}-[A-Za-z0-9]{16}'],
  ['resend', 'strict', 're_', `[A-Za-z0-9]{8}_[A-Za-z0-9]{24}${END}`],
  ['mailersend', 'loose', 'mlsn.', '[0-9a-f]{64}'],
  ['onesignal', 'loose', 'os_v2_app_ os_v2_org_', '[a-z0-9]{60,}'],
  ['stripe', 'strict', 'sk_org_ ek_live_ ek_test_ ephkey_', '(?:live_|test_)?[A-Za-z0-9]{16,}'],
  ['square', 'loose', 'EAAA', `[A-Za-z0-9_-]{60}${END}`],
  ['shopify', 'loose', 'shpua_ shpit_ shprt_ shptka_ shpec_', '[A-Za-z0-9]{30,}'],
  ['braintree', 'loose', 'access_token$', '(?:production|sandbox)\\$[a-z0-9]{16}\\$[0-9a-f]{32}'],
  ['flutterwave', 'strict', 'FLWSECK- FLWSECK_TEST-', '[0-9A-Za-z]{12,}(?:-X)?'],
  ['paddle', 'loose', 'pdl_live_ pdl_sdbx_', 'apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}'],
  ['paypal', 'loose', 'A21AA', '[A-Za-z0-9_-]{80,}'],
  ['adyen', 'loose', 'AQE', '[a-z][A-Za-z0-9+/]{50,}={0,2}(?:-[A-Za-z0-9+/=]{20,}-[^\\s"\']{8,40})?'],
  ['mandrill', 'strict', 'md-', `${MIXED}[A-Za-z0-9_-]{22}${END}`],
  ['brevo', 'loose', 'xsmtpsib-', '[a-f0-9]{64}-[A-Za-z0-9]{16}'],
  ['pubnub', 'strict', 'sec-c-', '[A-Za-z0-9+/=-]{36,}'],
  ['polar', 'loose', 'polar_oat_ polar_pat_', '[A-Za-z0-9_-]{24,}'],
  ['unkey', 'loose', 'unkey_', `${MIXED}[A-Za-z0-9]{20,}`],
  ['trigger_dev', 'loose', 'tr_dev_ tr_prod_ tr_stg_ tr_pat_ tr_preview_', `${MIXED}[A-Za-z0-9]{16,}`],
];

/** Tokens of services that people and money go through, and that watch. */
const SERVICE_TOKENS: readonly TokenRow[] = [...MONITORING, ...PEOPLE, ...MONEY_AND_MAIL];

const AI: readonly TokenRow[] = [
  ['anthropic', 'strict', 'sk-ant-', '[A-Za-z0-9_-]{16,}'],
  ['openrouter', 'strict', 'sk-or-v1-', '[0-9a-f]{32,}'],
  ['openai', 'strict', 'sk-proj- sk-svcacct- sk-admin- sk-None- sk-live- sk-test-', '[A-Za-z0-9_-]{16,}'],
  ['openai', 'strict', 'sk-', `[A-Za-z0-9]{32,}${END}`],
  ['huggingface', 'loose', 'hf_ api_org_', '[A-Za-z0-9]{30,}'],
  ['replicate', 'loose', 'r8_', `[A-Za-z0-9]{37}${END}`],
  ['groq', 'loose', 'gsk_', '[A-Za-z0-9]{40,}'],
  ['xai', 'strict', 'xai-', '[A-Za-z0-9]{60,}'],
  ['perplexity', 'strict', 'pplx-', '[A-Za-z0-9]{40,}'],
  ['nvidia', 'strict', 'nvapi-', '[A-Za-z0-9_-]{40,}'],
  ['tavily', 'strict', 'tvly-', '[A-Za-z0-9-]{20,}'],
  ['firecrawl', 'strict', 'fc-', `[0-9a-f]{32}${END}`],
  ['pinecone', 'loose', 'pcsk_', '[A-Za-z0-9_]{40,}'],
  ['langsmith', 'loose', 'lsv2_pt_ lsv2_sk_', '[0-9a-f]{32}_[0-9a-f]{10}'],
  ['langsmith', 'loose', 'ls__', `[0-9a-f]{32}${END}`],
  ['langfuse', 'strict', 'sk-lf-', UUID],
  ['together', 'loose', 'tgp_v1_', '[A-Za-z0-9_-]{40,}'],
  ['fireworks', 'loose', 'fw_', `${MIXED}[A-Za-z0-9]{22,24}${END}`],
  ['cerebras', 'strict', 'csk-', '[a-z0-9]{40,}'],
  ['voyage', 'strict', 'pa-', `${MIXED}[A-Za-z0-9_-]{43}${END}`],
  ['jina', 'loose', 'jina_', '[A-Za-z0-9_-]{50,}'],
  ['wandb', 'loose', 'wandb_v1_', '[A-Za-z0-9_]{40,}'],
  ['modal', 'strict', 'ak- as-', `${MIXED}[A-Za-z0-9]{22}${END}`],
  ['runpod', 'loose', 'rpa_', '[A-Z0-9]{30,}'],
  ['e2b', 'loose', 'e2b_', `[0-9a-f]{40}${END}`],
  ['browserbase', 'loose', 'bb_live_ bb_test_', '[A-Za-z0-9_-]{20,}'],
  ['apify', 'loose', 'apify_api_', '[A-Za-z0-9]{30,}'],
  ['cursor', 'loose', 'crsr_', '[0-9a-f]{60,}'],
];

const CODE: readonly TokenRow[] = [
  ['github', 'loose', 'ghp_ gho_ ghu_ ghs_ ghr_', '[A-Za-z0-9]{30,}'],
  ['github', 'loose', 'github_pat_', '[A-Za-z0-9_]{22,}'],
  [
    'gitlab',
    'loose',
    'glpat- gldt- glptt- glrt- glrtr- glcbt- glft- glsoat- glagent- gloas- glimt- glffct- glwt-',
    '[A-Za-z0-9_.=-]{20,}',
  ],
  ['npm', 'loose', 'npm_', `[A-Za-z0-9]{36}${END}`],
  ['pypi', 'loose', 'pypi-', '[A-Za-z0-9_-]{50,}'],
  ['rubygems', 'loose', 'rubygems_', `[a-f0-9]{48}${END}`],
  ['nuget', 'loose', 'oy2', `[a-z0-9]{43}${END}`],
  ['crates_io', 'loose', 'cio', `[A-Za-z0-9]{32}${END}`],
  ['clojars', 'loose', 'CLOJARS_', '[a-z0-9]{60}'],
  ['artifactory', 'loose', 'AKCp', `[A-Za-z0-9]{60,75}${END}`],
  ['docker', 'loose', 'dckr_pat_ dckr_oat_', '[A-Za-z0-9_-]{20,}'],
  ['circleci', 'loose', 'CCIPAT_ CCIPRJ_', '[A-Za-z0-9]{22}_[0-9a-f]{40}'],
  ['octopus', 'strict', 'API-', `[A-Z0-9]{26}${END}`],
  ['prefect', 'loose', 'pnu_ pnb_', `[A-Za-z0-9]{36}${END}`],
  ['readme', 'loose', 'rdme_', '[a-z0-9]{60,}'],
  ['launchdarkly', 'strict', 'sdk- mob- api-', `${UUID}${END}`],
  ['postman', 'loose', 'PMAK-', '[a-f0-9]{24}-[a-f0-9]{34}'],
  ['atlassian', 'loose', 'ATATT3 ATCTT3 ATBBT3 ATSTT3', '[A-Za-z0-9_=-]{60,}'],
  ['gitlab', 'loose', 'GR1348941', '[A-Za-z0-9_-]{20,}'],
  ['bitbucket', 'loose', 'ATBB', `${MIXED}[A-Za-z0-9]{24,}`],
  ['trello', 'loose', 'ATTA', '[0-9A-Fa-f]{60,}'],
  ['artifactory', 'loose', 'cmVmdGtu', '[A-Za-z0-9]{50,}'],
  ['buildkite', 'loose', 'bkua_ bkaj_ bkct_ bkpt_ bkpat_', '[A-Za-z0-9]{30,}'],
  [
    'sourcegraph',
    'loose',
    'sgp_ sgp_local_ slk_ sgd_ sgs_',
    '(?:[0-9a-f]{16}_)?(?:[0-9a-f]{64}|[0-9a-f]{40})',
  ],
  ['segment', 'loose', 'sgp_', '[A-Za-z0-9]{64}'],
  ['sonar', 'loose', 'sqp_ squ_ sqa_', `[0-9a-f]{40}${END}`],
  ['packagist', 'loose', 'packagist_', '[a-z]{2,3}_[0-9a-f]{60,}'],
  ['pulumi', 'strict', 'pul-', `[0-9a-f]{40}${END}`],
  ['chromatic', 'loose', 'chpt_', '[0-9a-f]{12,}'],
  ['infracost', 'strict', 'ico-', `[A-Za-z0-9]{32}${END}`],
  ['snyk', 'loose', 'snyk_uat. snyk_sat.', '[A-Za-z0-9._-]{30,}'],
  ['socket', 'loose', 'sktsec_', '[A-Za-z0-9_-]{20,}'],
  ['contentful', 'strict', 'CFPAT-', '[A-Za-z0-9_-]{40,}'],
  ['nx', 'loose', 'nxc_ nx_', `${MIXED}[A-Za-z0-9]{40,}`],
  ['depot', 'loose', 'depot_org_ depot_project_ depot_user_', '[0-9a-f]{40,}'],
  ['scalingo', 'strict', 'tk-us-', '[A-Za-z0-9_-]{40,}'],
  ['harness', 'strict', 'pat. sat.', '[A-Za-z0-9_-]{22}\\.[0-9a-f]{24}\\.[A-Za-z0-9]{20}'],
  ['mergify', 'loose', 'mka_', '[A-Za-z0-9_-]{30,}'],
  ['coder', 'loose', 'cdr_', '[A-Za-z0-9]{30,}'],
  ['duffel', 'loose', 'duffel_live_ duffel_test_', '[A-Za-z0-9_-]{40,}'],
];

const CLOUD: readonly TokenRow[] = [
  ['aws_bedrock', 'loose', 'ABSK', '[A-Za-z0-9+/]{100,}={0,2}'],
  ['alibaba', 'loose', 'LTAI', `[A-Za-z0-9]{20}${END}`],
  ['tencent', 'loose', 'AKID', `[A-Za-z0-9]{32}${END}`],
  ['google_api_key', 'loose', 'AIza', `[0-9A-Za-z_-]{35}${END}`],
  ['google_oauth', 'loose', 'ya29.', '[0-9A-Za-z_-]{20,}'],
  ['google_oauth', 'loose', 'GOCSPX-', '[A-Za-z0-9_-]{28}'],
  ['google_oauth', 'loose', '1//0', '[A-Za-z0-9_-]{30,}'],
  ['digitalocean', 'loose', 'dop_v1_ doo_v1_ dor_v1_', `[a-f0-9]{64}${END}`],
  ['heroku', 'loose', 'HRKU-', '[A-Za-z0-9_-]{36,}'],
  ['fly', 'loose', 'fm1_ fm2_ fm1a_ fm1r_ fm2a_ fm2r_ fo1_', '[A-Za-z0-9+/=_-]{40,}'],
  ['netlify', 'loose', 'nfp_', '[A-Za-z0-9]{36,}'],
  ['vercel', 'loose', 'vcp_ vca_ vci_ vcr_ vcc_ vck_', '[A-Za-z0-9]{24,}'],
  ['supabase', 'loose', 'sbp_', '[a-f0-9]{40}'],
  ['supabase', 'loose', 'sb_secret_', '[A-Za-z0-9_-]{20,}'],
  ['planetscale', 'loose', 'pscale_tkn_ pscale_pw_ pscale_oauth_', '[A-Za-z0-9=._-]{32,}'],
  ['neon', 'loose', 'napi_', '[a-z0-9]{40,}'],
  ['mongodb_atlas', 'loose', 'mdb_sa_sk_', '[A-Za-z0-9_-]{30,}'],
  ['vault', 'loose', 'hvs. hvb. hvr.', '[A-Za-z0-9_-]{24,}'],
  ['doppler', 'loose', 'dp.pt. dp.st. dp.sa. dp.ct. dp.scim. dp.audit.', '[A-Za-z0-9._-]{40,}'],
  ['infisical', 'strict', 'st.', `[0-9a-f]{24}\\.[0-9a-f]{32}\\.[0-9a-f]{32}${END}`],
  ['onepassword', 'loose', 'ops_eyJ', '[A-Za-z0-9+/=_-]{100,}'],
  ['age', 'loose', 'AGE-SECRET-KEY-1', '[0-9A-Z]{58}'],
  ['databricks', 'loose', 'dapi', `[a-f0-9]{32}(?:-\\d)?${END}`],
  ['frame_io', 'strict', 'fio-u-', '[A-Za-z0-9_-]{60,}'],
  ['aws_session', 'loose', 'IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz', '[A-Za-z0-9+/=_%-]{40,}'],
  ['aws_bedrock', 'loose', 'bedrock-api-key-', '[A-Za-z0-9+/=_-]{40,}'],
  ['aws_ecr', 'loose', 'eyJwYXlsb2FkIjoi', '[A-Za-z0-9+/=]{100,}'],
  ['amazon', 'strict', 'amzn.mws.', UUID],
  ['amazon', 'strict', 'amzn1.oa2-cs.v1.', '[0-9a-f]{60,}'],
  ['amazon', 'loose', 'Atza| Atzr|', '[A-Za-z0-9_/+=-]{30,}'],
  ['google_api_key', 'loose', 'AQ.Ab', '[A-Za-z0-9_-]{40,}'],
  ['google_oauth', 'strict', '4/0A', '[A-Za-z0-9_-]{40,}'],
  ['google_hmac', 'loose', 'GOOG', `[A-Z0-9]{20}(?:[A-Z0-9]{37})?${END}`],
  ['digitalocean', 'loose', 'DO00', `${MIXED}[A-Z0-9]{16}${END}`],
  ['cloudflare', 'loose', 'cfut_ cfat_ cfk_', '[A-Za-z0-9_-]{30,}'],
  ['cloudflare', 'strict', 'v1.0-', '[0-9a-f]{24}-[0-9a-f]{100,}'],
  ['render', 'loose', 'rnd_', `${MIXED}[A-Za-z0-9]{24,}`],
  ['netlify', 'loose', 'nfc_ nfo_ nfb_ nfu_', '[A-Za-z0-9]{36,}'],
  ['yandex', 'loose', 'AQVN', '[A-Za-z0-9_-]{35,}'],
  ['yandex', 'strict', 't1.', '[A-Za-z0-9_-]{20,}={0,2}\\.[A-Za-z0-9_-]{80,}={0,2}'],
  ['yandex', 'loose', 'y0_', '[A-Za-z0-9_-]{50,}'],
  ['yandex', 'loose', 'YCM YCO YCP', `${MIXED}[A-Za-z0-9_-]{37}${END}`],
  ['scaleway', 'loose', 'SCW', `${MIXED}[A-Z0-9]{17}${END}`],
  ['databricks', 'loose', 'dose dkea', `[0-9a-f]{32}(?:-\\d)?${END}`],
  ['aiven', 'loose', 'AVNS_', '[A-Za-z0-9_-]{16,}'],
  ['elastic', 'loose', 'essu_ essa_', '[A-Za-z0-9+/=_-]{30,}'],
  ['vault', 'strict', 's. b.', `${MIXED}[A-Za-z0-9]{24}${END}`],
  ['onepassword', 'strict', 'A3-', '[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}'],
  ['tailscale', 'loose', 'tskey-', '(?:[a-z]{2,12}-)?[A-Za-z0-9]{6,}-[A-Za-z0-9]{16,}'],
  ['backblaze', 'strict', 'K00', `\\d${MIXED}[A-Za-z0-9+/]{27}${END}`],
  ['docker_swarm', 'strict', 'SWMTKN-', '\\d-[a-z0-9]{40,}-[a-z0-9]{20,}'],
  ['k3s', 'loose', 'K10', '[0-9a-f]{64}::[A-Za-z0-9:._-]{16,}'],
  [
    'rancher',
    'strict',
    'token- kubeconfig-u- kubeconfig-user-',
    '[a-z0-9]{5,12}(?:\\.[a-z0-9-]{1,40})?:[a-z0-9]{54}',
  ],
  ['openshift', 'loose', 'sha256~', '[A-Za-z0-9_-]{43}'],
  ['okta', 'loose', 'SSWS', ' {1,4}[A-Za-z0-9_-]{40,}'],
  ['stytch', 'strict', 'secret-live- secret-test-', '[A-Za-z0-9_-]{36}={0,2}'],
  ['statsig', 'strict', 'secret-', `${MIXED}[A-Za-z0-9]{36,}`],
  ['akamai', 'strict', 'akab-', '[a-z0-9]{16}-[a-z0-9]{16}'],
  ['sanity', 'strict', 'sk', `${MIXED}[A-Za-z0-9]{78,}`],
  ['materialize', 'loose', 'mzp_', '[0-9a-f]{60,}'],
  ['tinybird', 'strict', 'p.eyJ', '[A-Za-z0-9_-]{20,}\\.[A-Za-z0-9_-]{20,}'],
  ['nkey', 'strict', 'SU SA SO SN', `${MIXED}[A-Z2-7]{56}${END}`],
  ['stellar', 'strict', 'S', `${MIXED}[A-Z2-7]{55}${END}`],
  ['bitcoin', 'loose', 'xprv yprv zprv tprv', '[1-9A-HJ-NP-Za-km-z]{100,}'],
  ['nostr', 'loose', 'nsec1', '[02-9ac-hj-np-z]{58}'],
  ['dbt', 'loose', 'dbtu_ dbtc_ dbts_', '[A-Za-z0-9_=-]{30,}'],
  ['confluent', 'loose', 'cflt', '[A-Za-z0-9+/]{56,}={0,2}'],
  ['paseto', 'strict', 'v1. v2. v3. v4.', '(?:local|public)\\.[A-Za-z0-9_-]{32,}'],
];

const JSON_TOKENS: readonly TokenRow[] = [
  ['jwt', 'strict', 'eyJ', '[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}'],
  [
    'jwe',
    'strict',
    'eyJ',
    '[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{0,1024}\\.[A-Za-z0-9_-]{16}\\.[A-Za-z0-9_-]{2,}\\.[A-Za-z0-9_-]{22}',
  ],
];

/** Words inside a prefix that only vendors' secrets have. What follows has to be made up. */
const MARKED_SECRET: readonly TokenRow[] = [
  ['secret_key', 'strict', 'sk_ rk_', `(?:[a-z0-9]{2,12}_){0,2}${MIXED}[A-Za-z0-9]{24,}`],
  ['secret_key', 'strict', 'sk-', `(?:[a-z0-9]{2,12}-){1,3}${MIXED}[A-Za-z0-9_]{24,}`],
  [
    'secret_key',
    'loose',
    'pat_ oat_ uat_ sat_ secret_ live_ prod_ sandbox_ apikey_ api_key_ api_token_ access_token_',
    `${MIXED}[A-Za-z0-9]{24,}`,
  ],
];

/** Tokens whose prefix and length give them away, from their vendors' public descriptions. */
export const TOKEN_SHAPES: readonly TokenShape[] = asShapes([
  ...AI,
  ...CODE,
  ...CLOUD,
  ...SERVICE_TOKENS,
  ...JSON_TOKENS,
  ...MARKED_SECRET,
]);

/** Issued since: what was masked before it entered the state of earlier runs does not know them. */
export const NEWER_SHAPES: readonly TokenShape[] = asShapes([
  ['supabase', 'loose', 'sbp_oauth_', `[a-f0-9]{40}${END}`],
  ['google_api_key', 'strict', 'AQ.', '[A-Za-z0-9_-]{38,}'],
  ['posthog', 'loose', 'phs_', `${MIXED}[A-Za-z0-9]{30,}`],
  ['render', 'loose', 'rnd_', '(?=[a-z]{0,16}[A-Z0-9])[A-Za-z0-9]{28,}'],
  ['vercel', 'loose', 'vercel_blob_rw_', '[A-Za-z0-9]{10,}_[A-Za-z0-9]{20,}'],
  ['logfire', 'loose', 'pylf_v1_', '(?:[a-z]{2,8}_)?[A-Za-z0-9]{24,}'],
  ['datadog', 'loose', 'ddpat_ ddsat_', '[A-Za-z0-9_]{24,}'],
]);
