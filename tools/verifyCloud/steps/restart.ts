import { gcloud, json, post } from '../action.ts';
import { slowOrganisation } from '../people.ts';
import { type Context, describeReply, finding, hasStatus, notSettled, type Step } from '../step.ts';
import { countPeople, expectImported } from './importReply.ts';

const PEOPLE = 900;
const PAUSE_MS = 5_000;
const START_MS = 180_000;
const ORG_ID = '880000000000000004';

const readRevision = gcloud(
  'run services describe north-import --region=$REGION --format=value(status.latestReadyRevisionName)',
);
const slowImport = post('north', 'import', slowOrganisation(ORG_ID, PEOPLE, '20m'));
const look = post('north', 'export', json({ org_ids: [ORG_ID], response_output: true }));
const replace = gcloud('run services update north-import --region=$REGION --update-env-vars=VERIFY_RESTART=1');
const deleteRevision = gcloud('run revisions delete $REVISION --region=$REGION');

/** Ends the process of a running import by deleting its revision, and sends the import again. */
export const restartImport: Step = {
  name: 'restart',
  title: 'End the process of a running import, and send the import again',
  settles: ['resumption'],
  actions: [readRevision, slowImport, look, replace, deleteRevision],
  isExperiment: true,
  perform: async (context) => {
    const { run, send, set } = context;
    set('REVISION', (await run(readRevision)).stdout.trim());
    const running = send(slowImport);
    // Awaited below: until then its failure must not end the process.
    running.catch(() => {});
    await waitForPeople(context);
    await run(replace);
    await run(deleteRevision);
    const first = await running;
    const expected = `the import ends early; sent again, it accounts for ${PEOPLE} people`;
    if (hasStatus(first, 200)) return [notSettled('resumption', expected, 'the import ended before its process')];
    const { created, unchanged, failed } = expectImported(await send(slowImport));
    const isComplete = created + unchanged === PEOPLE && unchanged > 0 && failed === 0;
    const observed = `${describeReply(first)}; again: ${created} created, ${unchanged} unchanged, ${failed} failed`;
    return [finding('resumption', expected, observed, isComplete)];
  },
};

/** Waits until the import has written its first people. */
async function waitForPeople({ send, clock, signal }: Context): Promise<void> {
  const deadline = clock.now() + START_MS;
  while (countPeople(await send(look)) === 0) {
    if (clock.now() >= deadline) throw new Error('the import has written nobody');
    await clock.sleep(PAUSE_MS, signal);
  }
}
