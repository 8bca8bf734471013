import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { prepare } from './prepare.ts';
import { line, type Result, summary } from './report.ts';
import { rows } from './rows.ts';
import { runRow, type Tokens } from './runRow.ts';
import { callers, newSubjects } from './subjects.ts';

const usage = `npm run conformance -- --base-url URL --token-file FILE [--tokens-file FILE]

  --base-url     where the instance is; it gets organisations to try things on, so take one that is not in use
  --token-file   a file with a token of a service user with the role IAM_OWNER
  --tokens-file  a JSON file with tokens of other users, by their role in the table: {"nobody": "...", ...}.
                 The users are there after a first run:
${Object.entries(callers)
  .map(
    ([role, userId]) =>
      `                   ${role.padEnd(9)} ${userId}${role === 'expired' ? ', a token that has expired' : ''}`,
  )
  .join('\n')}
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

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { 'base-url': { type: 'string' }, 'token-file': { type: 'string' }, 'tokens-file': { type: 'string' } },
  });
  const { 'base-url': baseUrl, 'token-file': tokenFile, 'tokens-file': tokensFile } = values;
  if (baseUrl === undefined || tokenFile === undefined) throw new Error(usage);
  const results = await runTable(baseUrl, await readTokens(tokenFile, tokensFile));
  process.stdout.write(`\n${summary(results)}\n`);
  return results.some(({ outcome }) => outcome.kind === 'failed') ? 1 : 0;
}

async function readTokens(tokenFile: string, tokensFile: string | undefined): Promise<Tokens> {
  const owner = (await readFile(tokenFile, 'utf8')).trim();
  if (tokensFile === undefined) return { owner };
  const given = otherTokens.parse(JSON.parse(await readFile(tokensFile, 'utf8')));
  const tokens = Object.entries(given).filter(([, token]) => token !== undefined);
  return { ...Object.fromEntries(tokens), owner };
}

async function runTable(baseUrl: string, tokens: Tokens): Promise<Result[]> {
  const subjects = newSubjects();
  const spent = await prepare(baseUrl, tokens.owner, subjects);
  const results: Result[] = [];
  for (const row of rows(subjects)) {
    const result = { row, outcome: await runRow(row, { baseUrl, tokens, spent }) };
    process.stdout.write(`${line(result)}\n`);
    results.push(result);
  }
  return results;
}
