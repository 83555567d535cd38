import { END, type TokenRow } from './tokenRow.ts';

// A gate hides nothing that could be a command: letters, digits, `_` and `-` behind a vendor's prefix, of the one length that
// the vendor issues. No shape has a space, a quote, a path or what a shell reads, and none has a lower bound alone.

const LONG_END = '(?![A-Za-z0-9_-])';

/** What is hidden at a gate besides registered values. Adding one: exact lengths only, and a prefix of at least three characters. */
export const GATE_SHAPES: readonly TokenRow[] = [
  ['aws_access_key', 'loose', 'AKIA ASIA ABIA ACCA', `[A-Z0-9]{16}${END}`],
  ['anthropic', 'strict', 'sk-ant-api03- sk-ant-admin01-', `[A-Za-z0-9_-]{93}AA${LONG_END}`],
  ['openai', 'strict', 'sk-', `[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}${END}`],
  ['openrouter', 'strict', 'sk-or-v1-', `[0-9a-f]{64}${END}`],
  ['groq', 'loose', 'gsk_', `[A-Za-z0-9]{52}${END}`],
  ['huggingface', 'loose', 'hf_', `[A-Za-z0-9]{34}${END}`],
  ['replicate', 'loose', 'r8_', `[A-Za-z0-9]{37}${END}`],
  ['langsmith', 'loose', 'lsv2_pt_ lsv2_sk_', `[0-9a-f]{32}_[0-9a-f]{10}${END}`],
  ['google_api_key', 'loose', 'AIza', `[A-Za-z0-9_-]{35}${LONG_END}`],
  ['google_oauth', 'loose', 'GOCSPX-', `[A-Za-z0-9_-]{28}${LONG_END}`],
  ['github', 'loose', 'ghp_ gho_ ghu_ ghs_ ghr_', `[A-Za-z0-9]{36}${END}`],
  ['github', 'loose', 'github_pat_', `[A-Za-z0-9]{22}_[A-Za-z0-9]{59}${END}`],
  ['gitlab', 'loose', 'glpat- gldt- glrt- glptt-', `[A-Za-z0-9_-]{20}${LONG_END}`],
  ['npm', 'loose', 'npm_', `[A-Za-z0-9]{36}${END}`],
  ['rubygems', 'loose', 'rubygems_', `[a-f0-9]{48}${END}`],
  ['digitalocean', 'loose', 'dop_v1_ doo_v1_ dor_v1_', `[a-f0-9]{64}${END}`],
  ['supabase', 'loose', 'sbp_', `[a-f0-9]{40}${END}`],
  ['databricks', 'loose', 'dapi', `[a-f0-9]{32}${END}`],
  ['stripe', 'strict', 'sk_live_ sk_test_ rk_live_ rk_test_', `(?:[A-Za-z0-9]{24}|[A-Za-z0-9]{99})${END}`],
  ['shopify', 'loose', 'shpat_ shpca_ shppa_ shpss_', `[a-fA-F0-9]{32}${END}`],
  ['linear', 'loose', 'lin_api_', `[A-Za-z0-9]{40}${END}`],
  ['grafana', 'loose', 'glsa_', `[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}${END}`],
  ['postman', 'loose', 'PMAK-', `[a-f0-9]{24}-[a-f0-9]{34}${END}`],
  ['pulumi', 'strict', 'pul-', `[0-9a-f]{40}${END}`],
  ['age', 'loose', 'AGE-SECRET-KEY-1', `[0-9A-Z]{58}${END}`],
];
