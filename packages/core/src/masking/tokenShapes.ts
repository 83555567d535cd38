/** Where a token may begin. STRICT also excludes `_` and `-` before it: "task-…" is not "sk-…". */
export type Boundary = 'loose' | 'strict';

export interface TokenShape {
  readonly name: string;
  readonly boundary: Boundary;
  /** Literals; every token begins with one of them. */
  readonly heads: readonly string[];
  /** A pattern for the rest: bounded, or one run that consumes all it can. */
  readonly tail: string;
}

type Row = readonly [name: string, boundary: Boundary, heads: string, tail: string];

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const END = '(?![A-Za-z0-9])';

const AI: readonly Row[] = [
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
];

const CODE: readonly Row[] = [
  ['github', 'loose', 'ghp_ gho_ ghu_ ghs_ ghr_', '[A-Za-z0-9]{30,}'],
  ['github', 'loose', 'github_pat_', '[A-Za-z0-9_]{22,}'],
  [
    'gitlab',
    'loose',
    'glpat- gldt- glptt- glrt- glcbt- glft- glsoat- glagent- gloas- glimt- glffct-',
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
  ['prefect', 'loose', 'pnu_ pnb_', `[a-z0-9]{36}${END}`],
  ['readme', 'loose', 'rdme_', '[a-z0-9]{60,}'],
  ['launchdarkly', 'strict', 'sdk- mob- api-', `${UUID}${END}`],
  ['postman', 'loose', 'PMAK-', '[a-f0-9]{24}-[a-f0-9]{34}'],
  ['atlassian', 'loose', 'ATATT3 ATCTT3 ATBBT3 ATSTT3', '[A-Za-z0-9_=-]{60,}'],
];

const CLOUD: readonly Row[] = [
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
];

const MONITORING: readonly Row[] = [
  ['grafana', 'loose', 'glsa_', '[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}'],
  ['grafana', 'loose', 'glc_', '[A-Za-z0-9+/=]{32,}'],
  ['newrelic', 'loose', 'NRAK- NRII- NRAA- NRRA-', '[A-Za-z0-9_-]{27,}'],
  ['sentry', 'loose', 'sntrys_ sntryu_ sntry_', '[A-Za-z0-9+/=_-]{40,}'],
  ['dynatrace', 'loose', 'dt0', '[a-z]\\d{2}\\.[A-Z0-9]{24}\\.[A-Z0-9]{64}'],
  ['posthog', 'loose', 'phc_ phx_', '[A-Za-z0-9]{30,}'],
  ['honeycomb', 'loose', 'hcaik_ hcalk_ hcamk_', '[a-z0-9]{50,}'],
];

const PEOPLE: readonly Row[] = [
  ['slack', 'loose', 'xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxp- xoxe.xoxb-', '[A-Za-z0-9-]{10,}'],
  ['slack', 'loose', 'xapp-', '\\d-[A-Za-z0-9-]{10,}'],
  ['slack_webhook', 'loose', 'hooks.slack.com/', '(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20,}'],
  [
    'discord_webhook',
    'loose',
    'discord.com/api/webhooks/ discordapp.com/api/webhooks/',
    '\\d{5,30}/[A-Za-z0-9_-]{60,}',
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
  ['linkedin', 'loose', 'WPL_AP0. WPL_AP1.', '[A-Za-z0-9]{16}\\.[A-Za-z0-9]{8}(?:==)?'],
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
];

const MONEY_AND_MAIL: readonly Row[] = [
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
];

const JSON_TOKENS: readonly Row[] = [
  ['jwt', 'strict', 'eyJ', '[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}'],
  [
    'jwe',
    'strict',
    'eyJ',
    '[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{0,1024}\\.[A-Za-z0-9_-]{16}\\.[A-Za-z0-9_-]{2,}\\.[A-Za-z0-9_-]{22}',
  ],
];

/** Tokens whose prefix and length give them away, from their vendors' public descriptions. */
export const TOKEN_SHAPES: readonly TokenShape[] = [
  ...AI,
  ...CODE,
  ...CLOUD,
  ...MONITORING,
  ...PEOPLE,
  ...MONEY_AND_MAIL,
  ...JSON_TOKENS,
].map(([name, boundary, heads, tail]) => ({ name, boundary, heads: heads.split(' '), tail }));
