import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import type { Tokens } from './observe.ts';
import { readRecordings } from './recordedCase.ts';
import { importCallers, type Judged, replay, summary } from './replay.ts';

const USAGE = `npm run conformance -- URL --token FILE [--tokens FILE] [--exact] [--lag MS]

Sends the recorded requests of a ZITADEL to a server, and compares its responses with the recorded ones.
They create organisations: use an instance made for the purpose.

  --token FILE   a file with a token of a service user with the role IAM_OWNER
  --tokens FILE  a JSON file with tokens of other callers: {"orgOwner": "...", "viewer": "...", "nobody": "..."}
  --exact        fail on documented differences too: for a ZITADEL
  --lag MS       how long reads of the server lag behind its writes; 0 by default, 2000 for a ZITADEL

Exits with 1 if a response differs.
`;

const options = {
  token: { type: 'string' },
  tokens: { type: 'string' },
  exact: { type: 'boolean', default: false },
  lag: { type: 'string', default: '0' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;
const token = z.string().min(1);
const otherTokens = z.strictObject({ orgOwner: token, viewer: token, nobody: token }).partial();
const milliseconds = z.coerce.number().int().min(0);

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [url, ...others] = positionals;
  if (values.help) return print(USAGE, 0);
  if (url === undefined || values.token === undefined || others.length > 0) throw new Error(USAGE);
  const tokens = await readTokens(values.token, values.tokens);
  const server = { url: new URL(url), tokens, lagMs: milliseconds.parse(values.lag) };
  const { release, cases } = readRecordings();
  await importCallers(server);
  const judged = await replay(server, cases);
  const isAccepted = ({ verdict }: Judged) => verdict !== 'differs' && !(values.exact && verdict === 'documented');
  for (const one of judged) if (one.verdict !== 'same') process.stdout.write(`${toText(one, isAccepted(one))}\n`);
  return print(`ZITADEL ${release}: ${summary(judged)}\n`, judged.every(isAccepted) ? 0 : 1);
}

async function readTokens(ownerFile: string, othersFile: string | undefined): Promise<Tokens> {
  const owner = (await readFile(ownerFile, 'utf8')).trim();
  const others = othersFile === undefined ? {} : otherTokens.parse(JSON.parse(await readFile(othersFile, 'utf8')));
  return { ...others, owner };
}

/** The reasons of an accepted case, or the differences of any other case. */
function toText({ recorded, verdict, found, reasons }: Judged, isAccepted: boolean): string {
  const missing = recorded.request.as === undefined ? '' : `no token of ${recorded.request.as}`;
  const notes = isAccepted
    ? reasons.map(({ section, here }) => `docs/zitadel.md ${section}: ${here}`)
    : found.map(({ part, path, zitadel, ours }) => `${part}${path}: ${shown(ours)} instead of ${shown(zitadel)}`);
  return [
    `${verdict.padEnd(10)} ${recorded.name}`,
    ...(verdict === 'not run' ? [missing] : notes).map((note) => `             ${note}`),
  ].join('\n');
}

function shown(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 300) ?? 'nothing';
}

function print(text: string, code: number): number {
  process.stdout.write(text);
  return code;
}
