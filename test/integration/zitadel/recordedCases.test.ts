import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { allRoutes } from '../../../functions/endpoints.ts';
import { initialise } from '../../../shared/accounts/initialise.ts';
import { createApp } from '../../../shared/http/app.ts';
import { serve } from '../../../shared/http/server.ts';
import { defaultLimits } from '../../../shared/limits.ts';
import { configureLog } from '../../../shared/log.ts';
import type { ObjectStorage } from '../../../shared/objectStorage/objectStorage.ts';
import { memoryTrail } from '../../support/audit/memoryTrail.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { isDeliberate } from './recordedCases/deliberate.ts';
import { type Difference, differences } from './recordedCases/differences.ts';
import { type Answered, type Exported, exportAll, exportedBy, observe, type Server } from './recordedCases/observe.ts';
import { type RecordedCase, readRecordedCases } from './recordedCases/recordedCase.ts';

const AT_ONCE = 8;
const DAY_MS = 86_400_000;
const TIMEOUT_MS = 240_000;
const noBucket = () => Promise.reject(new Error('the recorded cases have no bucket'));
const noStorage: ObjectStorage = { write: noBucket, pin: noBucket };

/** Whether a case goes as at ZITADEL, differs deliberately, or differs. */
type Verdict = 'same' | 'documented' | 'differs';

interface Judged {
  readonly recorded: RecordedCase;
  readonly verdict: Verdict;
  readonly found: readonly Difference[];
}

async function startServer(): Promise<Server> {
  configureLog('silent');
  const store = await openTestStore();
  const now = () => new Date();
  const { token } = await initialise(store, 'recorded', DAY_MS, now());
  // All cases are sent at once.
  const unlimited = { imports: Number.POSITIVE_INFINITY, exports: Number.POSITIVE_INFINITY };
  const limits = { ...defaultLimits('selfHosted'), ...unlimited };
  const routes = await allRoutes({ store, objectStorage: noStorage, audit: memoryTrail().audit, now, limits });
  const server = await serve({ app: createApp({ routes }), host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await server.close();
  });
  return { port: Number(new URL(server.url).port), token };
}

function judge(recorded: RecordedCase, answered: Answered, file: Exported): Judged {
  const exported = exportedBy(recorded, answered, file);
  const seen = { ...answered.seen, ...(exported === undefined ? {} : { exported }) };
  const isCounted = ({ part, path }: Difference) =>
    !recorded.ignore.some((skipped) => skipped === part || skipped === `${part}:orgs${path}`);
  // What ZITADEL answers the second time in an instance is another answer of its own.
  const recordings = [recorded.zitadel, ...(recorded.zitadelAgain === undefined ? [] : [recorded.zitadelAgain])];
  const candidates = recordings.map((recording) => differences(recording, seen).filter(isCounted));
  const [found = []] = candidates.sort((a, b) => a.length - b.length);
  const isDocumented = found.length > 0 && isDeliberate(recorded, found);
  return { recorded, found, verdict: found.length === 0 ? 'same' : isDocumented ? 'documented' : 'differs' };
}

async function judgeAll(server: Server, cases: readonly RecordedCase[]): Promise<Judged[]> {
  const answers = new Map<RecordedCase, Answered>();
  const waiting = cases.values();
  const work = async () => {
    for (const recorded of waiting) answers.set(recorded, await observe(server, recorded));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const file = await exportAll(server);
  return [...answers]
    .map(([recorded, answered]) => judge(recorded, answered, file))
    .sort((a, b) => (a.recorded.name < b.recorded.name ? -1 : 1));
}

function toLine({ recorded, verdict, found }: Judged): string {
  const line = `${verdict.padEnd(10)} ${recorded.name}`;
  if (verdict !== 'differs') return line;
  const parts = found.filter((difference) => !isDeliberate(recorded, [difference]));
  return [line, ...new Set(parts.map(({ part, path }) => `             ${part} ${path}`.trimEnd()))].join('\n');
}

describe('the recorded cases of a ZITADEL', () => {
  let cases: readonly RecordedCase[] = [];
  beforeAll(() => {
    cases = readRecordedCases();
  });

  it(
    'go as listed: as at ZITADEL, differently on purpose, or differently',
    async () => {
      const judged = await judgeAll(await startServer(), cases);
      const count = (verdict: Verdict) => judged.filter((one) => one.verdict === verdict).length;
      const counts = `same ${count('same')}, documented ${count('documented')}, differs ${count('differs')}`;
      // To accept another outcome, run the test with -u, and read what changes.
      await expect(`${counts}\n\n${judged.map(toLine).join('\n')}\n`).toMatchFileSnapshot(
        '../../fixtures/zitadel/differential-verdicts.txt',
      );
    },
    TIMEOUT_MS,
  );
});
