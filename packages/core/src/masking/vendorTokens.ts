import { type MaskRule, tokenRule } from './MaskRule.ts';

// Left boundaries. A token may follow a URL escape (`%3D`) or a JSON escape (`\n`), whose last character is a
// letter. STRICT also excludes `_` and `-`, so that "task-…" is not read as "sk-…".
const AFTER_ESCAPE = '(?<=%[0-9A-Fa-f]{2})|(?<=\\\\[nrt])';
const LOOSE = `(?:(?<![A-Za-z0-9])|${AFTER_ESCAPE})`;
const STRICT = `(?:(?<![A-Za-z0-9_-])|${AFTER_ESCAPE})`;
const END = '(?![A-Za-z0-9])';

/** Family, left boundary, shape, hints. Every shape is a fixed prefix with a bounded or run-consuming tail. */
const SHAPES: readonly (readonly [string, string, string, ...string[]])[] = [
  [
    'github',
    LOOSE,
    '(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})',
    'ghp_',
    'gho_',
    'ghu_',
    'ghs_',
    'ghr_',
    'github_pat_',
  ],
  [
    'gitlab',
    LOOSE,
    'gl(?:pat|dt|ptt|rt|cbt|ft|soat|agent|oas|imt|ffct)-[A-Za-z0-9_.=-]{20,}',
    'glpat-',
    'gldt-',
    'glptt-',
    'glrt-',
    'glcbt-',
    'glft-',
    'glsoat-',
    'glagent-',
    'gloas-',
    'glimt-',
    'glffct-',
  ],
  [
    'slack',
    LOOSE,
    '(?:xox[abeoprs](?:\\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-\\d-[A-Za-z0-9-]{10,})',
    'xox',
    'xapp-',
  ],
  [
    'slack_webhook',
    LOOSE,
    'hooks\\.slack\\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20,}',
    'hooks.slack',
  ],
  ['anthropic', STRICT, 'sk-ant-[A-Za-z0-9_-]{16,}', 'sk-ant-'],
  ['openrouter', STRICT, 'sk-or-v\\d-[0-9a-f]{32,}', 'sk-or-'],
  ['openai', STRICT, 'sk-(?:proj|svcacct|admin|None|live|test)-[A-Za-z0-9_-]{16,}', 'sk-'],
  ['openai', STRICT, `sk-[A-Za-z0-9]{32,}${END}`, 'sk-'],
  [
    'stripe',
    STRICT,
    '(?:(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{24,})',
    'sk_',
    'rk_',
    'whsec_',
  ],
  ['google_api_key', LOOSE, `AIza[0-9A-Za-z_-]{35}${END}`, 'AIza'],
  [
    'google_oauth',
    LOOSE,
    '(?:ya29\\.[0-9A-Za-z_-]{20,}|GOCSPX-[A-Za-z0-9_-]{28}|1//0[A-Za-z0-9_-]{30,})',
    'ya29.',
    'GOCSPX-',
    '1//0',
  ],
  ['npm', LOOSE, `npm_[A-Za-z0-9]{36}${END}`, 'npm_'],
  ['pypi', LOOSE, 'pypi-[A-Za-z0-9_-]{50,}', 'pypi-'],
  ['rubygems', LOOSE, `rubygems_[a-f0-9]{48}${END}`, 'rubygems_'],
  ['nuget', LOOSE, `oy2[a-z0-9]{43}${END}`, 'oy2'],
  ['crates_io', LOOSE, `cio[A-Za-z0-9]{32}${END}`, 'cio'],
  ['docker', LOOSE, 'dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}', 'dckr_'],
  ['huggingface', LOOSE, '(?:hf|api_org)_[A-Za-z0-9]{30,}', 'hf_', 'api_org_'],
  ['replicate', LOOSE, `r8_[A-Za-z0-9]{37}${END}`, 'r8_'],
  ['groq', LOOSE, 'gsk_[A-Za-z0-9]{40,}', 'gsk_'],
  ['xai', STRICT, 'xai-[A-Za-z0-9]{60,}', 'xai-'],
  ['perplexity', STRICT, 'pplx-[A-Za-z0-9]{40,}', 'pplx-'],
  ['tavily', STRICT, 'tvly-[A-Za-z0-9-]{20,}', 'tvly-'],
  ['pinecone', LOOSE, 'pcsk_[A-Za-z0-9_]{40,}', 'pcsk_'],
  ['langsmith', LOOSE, 'lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}', 'lsv2_'],
  ['sendgrid', LOOSE, 'SG\\.[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{32,64}', 'SG.'],
  ['mailgun', STRICT, `key-[0-9a-f]{32}${END}`, 'key-'],
  ['mailchimp', LOOSE, `[0-9a-f]{32}-us\\d{1,2}${END}`, '-us'],
  ['brevo', LOOSE, 'xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}', 'xkeysib-'],
  ['resend', STRICT, `re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}${END}`, 're_'],
  ['twilio', LOOSE, `SK[0-9a-f]{32}${END}`, 'SK'],
  ['shopify', LOOSE, `shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}${END}`, 'shp'],
  ['square', LOOSE, 'sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}', 'sq0'],
  ['digitalocean', LOOSE, `do[opr]_v1_[a-f0-9]{64}${END}`, '_v1_'],
  ['heroku', LOOSE, 'HRKU-[A-Za-z0-9_-]{36,}', 'HRKU-'],
  ['fly', LOOSE, 'fm[12][a-z]?_[A-Za-z0-9+/=_-]{40,}', 'fm1', 'fm2'],
  ['netlify', LOOSE, 'nfp_[A-Za-z0-9]{36,}', 'nfp_'],
  ['vercel', LOOSE, `vc[paicrk]_[A-Za-z0-9]{24,}`, 'vc'],
  ['supabase', LOOSE, '(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,})', 'sbp_', 'sb_secret_'],
  ['planetscale', LOOSE, 'pscale_(?:tkn|pw|oauth)_[A-Za-z0-9=._-]{32,}', 'pscale_'],
  ['neon', LOOSE, 'napi_[a-z0-9]{40,}', 'napi_'],
  ['vault', LOOSE, 'hv[bsr]\\.[A-Za-z0-9_-]{24,}', 'hvb.', 'hvs.', 'hvr.'],
  ['terraform', LOOSE, '[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_-]{60,}', '.atlasv1.'],
  ['doppler', LOOSE, 'dp\\.(?:pt|st|sa|ct|scim|audit)\\.[A-Za-z0-9._-]{40,}', 'dp.'],
  ['onepassword', LOOSE, 'ops_eyJ[A-Za-z0-9+/=_-]{100,}', 'ops_eyJ'],
  ['age', LOOSE, 'AGE-SECRET-KEY-1[0-9A-Z]{58}', 'AGE-SECRET'],
  ['grafana', LOOSE, '(?:glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/=]{32,})', 'glsa_', 'glc_'],
  ['newrelic', LOOSE, 'NR(?:AK|II|AA|RA)-[A-Za-z0-9_-]{27,}', 'NRAK', 'NRII', 'NRAA', 'NRRA'],
  ['sentry', LOOSE, 'sntr[ysu]_[A-Za-z0-9+/=_-]{40,}', 'sntr'],
  ['dynatrace', LOOSE, 'dt0[a-z]\\d{2}\\.[A-Z0-9]{24}\\.[A-Z0-9]{64}', 'dt0'],
  ['posthog', LOOSE, 'ph[cx]_[A-Za-z0-9]{30,}', 'phc_', 'phx_'],
  ['linear', LOOSE, 'lin_(?:api|oauth)_[A-Za-z0-9]{32,}', 'lin_'],
  ['notion', LOOSE, `(?:secret|ntn)_[A-Za-z0-9]{40,}`, 'secret_', 'ntn_'],
  ['airtable', LOOSE, `pat[A-Za-z0-9]{14}\\.[0-9a-f]{64}${END}`, 'pat'],
  ['figma', LOOSE, 'fig[dou]_[A-Za-z0-9_-]{40,}', 'figd_', 'figo_', 'figu_'],
  ['atlassian', LOOSE, 'AT(?:ATT|CTT|BBT|STT)3[A-Za-z0-9_=-]{60,}', 'ATATT3', 'ATCTT3', 'ATBBT3', 'ATSTT3'],
  ['postman', LOOSE, 'PMAK-[a-f0-9]{24}-[a-f0-9]{34}', 'PMAK-'],
  ['databricks', LOOSE, `dapi[a-f0-9]{32}(?:-\\d)?${END}`, 'dapi'],
  ['azure_client_secret', LOOSE, '[A-Za-z0-9_~.-]{3}\\dQ~[A-Za-z0-9_~.-]{31,34}', 'Q~'],
  ['telegram', LOOSE, `\\d{8,10}:AA[A-Za-z0-9_-]{32,33}${END}`, ':AA'],
  ['discord', STRICT, `[MNO][A-Za-z0-9_-]{23,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,38}${END}`],
  [
    'discord_webhook',
    LOOSE,
    'discord(?:app)?\\.com/api/webhooks/\\d{5,30}/[A-Za-z0-9_-]{60,}',
    '/api/webhooks/',
  ],
  ['jwt', STRICT, 'eyJ[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}', '.eyJ'],
  [
    'jwe',
    STRICT,
    'eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{0,1024}\\.[A-Za-z0-9_-]{16}\\.[A-Za-z0-9_-]{2,}\\.[A-Za-z0-9_-]{22}',
    'eyJ',
  ],
];

const AWS_ACCESS_KEY = new RegExp(`${LOOSE}A(?:KIA|SIA|BIA|CCA)[0-9A-Z]{16}${END}`, 'g');
const AWS_SECRET_KEY =
  /(secret_?access_?key["'\\]{0,4}\s{0,4}[=:]\s{0,4}["'\\]{0,4})([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/gi;
const AZURE_ACCOUNT_KEY = /(AccountKey=|SharedAccessKey=)[A-Za-z0-9+/]{42,88}={0,2}/g;
const AZURE_SAS = /([?&](?:amp;)?sig=)[A-Za-z0-9%+/]{43,80}=?/g;

/** Tokens whose own shape gives them away: a vendor's prefix and length. */
export const VENDOR_RULES: readonly MaskRule[] = [
  {
    name: 'aws_access_key',
    pattern: AWS_ACCESS_KEY,
    hints: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    replace: () => '[AWS_KEY=REDACTED]',
  },
  keepLabel('aws_secret_key', AWS_SECRET_KEY),
  keepLabel('azure_account_key', AZURE_ACCOUNT_KEY, ['AccountKey=', 'SharedAccessKey=']),
  keepLabel('azure_sas', AZURE_SAS, ['sig=']),
  ...SHAPES.map(([name, left, shape, ...hints]) =>
    tokenRule(name, new RegExp(left + shape, 'g'), hints.length === 0 ? undefined : hints),
  ),
];

function keepLabel(name: string, pattern: RegExp, hints?: readonly string[]): MaskRule {
  return { ...tokenRule(name, pattern, hints), replace: (match) => `${match[1]}[REDACTED:${name}]` };
}
