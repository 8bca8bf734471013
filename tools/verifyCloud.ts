import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './program.ts';
import { describeRun } from './verifyCloud/dryRun.ts';
import { findingsDocument } from './verifyCloud/findings.ts';
import { type Options, readOptions } from './verifyCloud/options.ts';
import { exitCode, reportRun } from './verifyCloud/report.ts';
import { runSteps } from './verifyCloud/session.ts';
import { steps } from './verifyCloud/steps.ts';
import { systemPorts } from './verifyCloud/systemPorts.ts';

// `npm run verify:cloud -- --project P --domain D [--region R] [--hour] [--apply]`: docs/deploying.md describes it.

const options = readOptions(process.argv.slice(2));
if ('usage' in options) {
  process.stderr.write(`${options.usage}\n`);
  process.exitCode = 64;
} else {
  const chosen = steps.filter(({ isOptional }) => isOptional !== true || options.includesHour);
  const values = new Map([
    ['PROJECT', options.project],
    ['DOMAIN', options.domain],
    ['REGION', options.region],
  ]);
  if (options.applies) process.exitCode = await apply(options, chosen, values);
  else process.stdout.write(describeRun(chosen, values));
}

async function apply({ region }: Options, chosen: typeof steps, values: ReadonlyMap<string, string>): Promise<number> {
  const work = await mkdtemp(join(tmpdir(), 'identity-verify-'));
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  print(`WORK=${work}`);
  const stop = new AbortController();
  let signalCode: number | undefined;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) print('the clean-up goes on: nothing would remove the resources otherwise');
      signalCode = 128 + constants.signals[name];
      stop.abort();
    });
  }
  const session = { ports: systemPorts, values: new Map([...values, ['WORK', work]]), signal: stop.signal, print };
  const outcome = await runSteps(chosen, session);
  if (outcome.left.length === 0) await rm(work, { recursive: true });
  const date = new Date().toISOString().slice(0, 10);
  const document = `${findingsDocument(outcome.findings, date, region)}\n`;
  if (outcome.isComplete) await writeFile(join(root, 'docs/cloud-findings.md'), document);
  else print(`\n${document}`);
  print(reportRun(outcome, values));
  return signalCode ?? exitCode(outcome);
}
