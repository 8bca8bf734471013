import { parseArgs } from 'node:util';

/** What a run is told. */
export interface Options {
  readonly project: string;
  /** The domain below which `north` and `south` are. */
  readonly domain: string;
  readonly region: string;
  readonly includesHour: boolean;
  /** Whether to do it; otherwise the run is only described. */
  readonly applies: boolean;
}

const USAGE =
  'npm run verify:cloud -- --project acme-verify --domain verify.example.com [--region europe-west1] [--hour] [--apply]';
const DEFAULT_REGION = 'europe-west1';

/** Each value goes into commands and names: patterns as in the Terraform configuration. */
const patterns = {
  project: /^[a-z][a-z0-9-]{4,28}[a-z0-9]$/,
  domain: /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/,
  region: /^[a-z]+-[a-z]+[0-9]{1,2}$/,
} as const;

/** Reads the command line, or says what is wrong with it. */
export function readOptions(args: readonly string[]): Options | { readonly usage: string } {
  let given: ReturnType<typeof parse>;
  try {
    given = parse(args);
  } catch (error) {
    return { usage: `${error instanceof Error ? error.message : String(error)}\n${USAGE}` };
  }
  const { project = '', domain = '', region = DEFAULT_REGION, hour = false, apply = false } = given;
  const values = { project, domain, region };
  for (const name of ['project', 'domain', 'region'] as const) {
    if (!patterns[name].test(values[name])) return { usage: `--${name} is missing or invalid\n${USAGE}` };
  }
  return { ...values, includesHour: hour, applies: apply };
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = { project: text, domain: text, region: text, hour: flag, apply: flag };
  return parseArgs({ args: [...args], options }).values;
}
