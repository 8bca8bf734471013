import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { deliberateDifferences } from './deliberate.ts';
import type { Tokens } from './observe.ts';
import { readRecordings } from './recordedCase.ts';
import { releaseDifferences, zitadelRelease } from './releases.ts';
import { importCallers, type Judged, replay, summary } from './replay.ts';

const USAGE = `npm run conformance -- URL --token FILE [--tokens FILE] [--release NAME] [--lag MS]

Sends the recorded requests of a ZITADEL to a server, and compares its responses with the recorded ones.
They create organisations: use an instance made for the purpose.

  --token FILE   a file with a token of a service user with the role IAM_OWNER
  --tokens FILE  a JSON file with tokens of other callers: {"orgOwner": "...", "viewer": "...", "nobody": "..."}
  --release NAME the release, for a ZITADEL: ${zitadelRelease.options.join(', ')}
  --lag MS       how long reads of the server lag behind its writes; by default 0, of a ZITADEL 2000

Exits with 1 if a response differs.
`;

const options = {
  token: { type: 'string' },
  tokens: { type: 'string' },
  release: { type: 'string' },
  lag: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;
const token = z.string().min(1);
const otherTokens = z.strictObject({ orgOwner: token, viewer: token, nobody: token }).partial();
const milliseconds = z.coerce.number().int().min(0);
/** How long ZITADEL's reads lag behind its writes. */
const ZITADEL_LAG_MS = 2_000;

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
  const { data: zitadel, success: isKnown } = zitadelRelease.optional().safeParse(values.release);
  if (!isKnown) throw new Error(`unknown --release ${values.release}: specify ${zitadelRelease.options.join(', ')}`);
  const rows = zitadel === undefined ? deliberateDifferences : releaseDifferences(zitadel);
  const lagMs = milliseconds.parse(values.lag ?? (zitadel === undefined ? 0 : ZITADEL_LAG_MS));
  const server = { url: new URL(url), tokens, lagMs };
  const { release, cases } = readRecordings();
  await importCallers(server);
  const judged = await replay(server, cases, rows);
  for (const one of judged) if (one.verdict !== 'same') process.stdout.write(`${toText(one)}\n`);
  return print(`ZITADEL ${release}: ${summary(judged)}\n`, judged.some(({ verdict }) => verdict === 'differs') ? 1 : 0);
}

async function readTokens(ownerFile: string, othersFile: string | undefined): Promise<Tokens> {
  const owner = (await readFile(ownerFile, 'utf8')).trim();
  const others = othersFile === undefined ? {} : otherTokens.parse(JSON.parse(await readFile(othersFile, 'utf8')));
  return { ...others, owner };
}

/** The reasons of a documented case, or the differences of any other case. */
function toText({ recorded, verdict, found, reasons }: Judged): string {
  const missing = recorded.request.as === undefined ? '' : `no token of ${recorded.request.as}`;
  const notes =
    verdict === 'documented'
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
