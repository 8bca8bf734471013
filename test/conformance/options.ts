import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import type { Reference } from './row.ts';
import type { Tokens } from './runRow.ts';
import { callers } from './subjects.ts';

/** What a run of the table is told. */
export interface Options {
  readonly baseUrl: string;
  readonly tokens: Tokens;
  readonly reference: Reference;
  /** Which rows are run, by a part of their names. */
  readonly only: RegExp | undefined;
  readonly skip: RegExp | undefined;
  readonly junitFile: string | undefined;
  readonly settleMs: number;
  readonly restartMs: number;
}

const SYNOPSIS = 'npm run conformance -- --base-url URL --token-file FILE [OPTION ...]';

const roleLines = Object.entries(callers).map(
  ([role, userId]) =>
    `                     ${role.padEnd(9)} ${userId}${role === 'expired' ? ', a token that has expired' : ''}`,
);

/** The text of `--help`. */
export const help = `${SYNOPSIS}

Compares a server with the recorded responses of a ZITADEL and the documented interface, row by row.

  --base-url URL     where the instance is; it gets organisations to try things on, so take one that is not in use
  --token-file FILE  a file with a token of a service user with the role IAM_OWNER
  --reference NAME   what the server is measured against:
                     ours     this service: the documented rows, and those by which it differs from ZITADEL (default)
                     zitadel  a ZITADEL: the documented rows, and those by which it differs from this service
  --tokens-file FILE with --reference ours: a JSON file with tokens of other users, by their role in the table:
                     {"nobody": "...", ...}. The users exist after a first run:
${roleLines.join('\n')}
                     A ZITADEL creates the tokens of its service users on request.
  --only PATTERN     run the rows whose names match this regular expression
  --skip PATTERN     do not run the rows whose names match it
  --junit FILE       also write the results to a file in the form of JUnit
  --settle SECONDS   how long a response may take to show earlier writes; 5 for a ZITADEL, else 0
  --restart SECONDS  how long to wait for a server that closed a connection without a response; 30
  -h, --help         print this help

Rows about a server's known faults come last: an exclusion that matches ends the process of some releases of ZITADEL.
The row fails, and the run waits until the server answers again. Afterwards the organisations that the run created are
removed, where the server has a request for it, and are listed else. Ctrl-C ends the run, removes them and prints the
summary; the second one ends it at once.

Exit codes:
  0    all rows that were run passed
  1    a row failed, the table could not be run to its end, or an option is wrong
  130  Ctrl-C ended the run; 143: SIGTERM
`;

const optional = z.string().min(1).optional();
const otherTokens = z.strictObject({
  orgOwner: optional,
  viewer: optional,
  nobody: optional,
  person: optional,
  inactive: optional,
  expired: optional,
});

const text = { type: 'string' } as const;
const flags = {
  'base-url': text,
  'token-file': text,
  'tokens-file': text,
  reference: text,
  only: text,
  skip: text,
  junit: text,
  settle: text,
  restart: text,
  help: { type: 'boolean', short: 'h' },
} as const;

/**
 * Reads the options of a run; undefined where the help is asked for.
 * @throws Error when they are incomplete or wrong
 */
export async function readOptions(args: readonly string[]): Promise<Options | undefined> {
  const { values } = parseArgs({ args: [...args], options: flags });
  if (values.help === true) return;
  const { 'base-url': baseUrl, 'token-file': tokenFile, 'tokens-file': tokensFile } = values;
  if (baseUrl === undefined || tokenFile === undefined)
    throw new Error(`--base-url and --token-file are required\n\n${help}`);
  if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? ''))
    throw new Error('--base-url: must be an http or https URL');
  const reference = referenceNamed(values.reference);
  if (tokensFile !== undefined && reference === 'zitadel') {
    throw new Error('--tokens-file: a ZITADEL creates the tokens itself: leave it out');
  }
  return {
    baseUrl,
    tokens: await readTokens(tokenFile, tokensFile),
    reference,
    only: pattern('--only', values.only),
    skip: pattern('--skip', values.skip),
    junitFile: values.junit,
    settleMs: milliseconds('--settle', values.settle ?? (reference === 'zitadel' ? '5' : '0')),
    restartMs: milliseconds('--restart', values.restart ?? '30'),
  };
}

function referenceNamed(name = 'ours'): Reference {
  if (name === 'ours' || name === 'zitadel') return name;
  throw new Error(`--reference: unknown reference ${JSON.stringify(name)}: use ours or zitadel`);
}

function pattern(flag: string, written: string | undefined): RegExp | undefined {
  try {
    return written === undefined ? undefined : new RegExp(written);
  } catch (error) {
    throw new Error(`${flag}: must be a regular expression: ${String(error)}`, { cause: error });
  }
}

function milliseconds(flag: string, written: string): number {
  if (!/^\d+(\.\d+)?$/.test(written)) throw new Error(`${flag}: must be a number of seconds`);
  return Number(written) * 1000;
}

async function readTokens(tokenFile: string, tokensFile: string | undefined): Promise<Tokens> {
  const owner = (await readFile(tokenFile, 'utf8')).trim();
  if (tokensFile === undefined) return { owner };
  const given = otherTokens.parse(JSON.parse(await readFile(tokensFile, 'utf8')));
  const tokens = Object.entries(given).filter(([, token]) => token !== undefined);
  return { ...Object.fromEntries(tokens), owner };
}
