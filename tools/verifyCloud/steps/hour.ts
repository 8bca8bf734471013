import { gcloud, post } from '../action.ts';
import { slowOrganisation } from '../people.ts';
import { describeReply, finding, hasStatus, notSettled, type Reply, type Step } from '../step.ts';

const PEOPLE = 30_000;
const MINUTE_SECONDS = 60;
const TIMED_OUT = 504;
const update = (service: string, variables: string) =>
  gcloud(`run services update ${service} --region=$REGION --update-env-vars=${variables}`);
const allow = [
  update('north-import', `MAX_CLEAR_PASSWORDS=${PEOPLE}`),
  update('south-import', `MAX_CLEAR_PASSWORDS=${PEOPLE},MAX_TIMEOUT=70m`),
];
const [ours, platforms] = [
  post('north', 'import', slowOrganisation('880000000000000020', PEOPLE, '59m')),
  post('south', 'import', slowOrganisation('880000000000000021', PEOPLE, '70m')),
];

/** Sends two imports that take longer than an hour: one ends itself after 59 minutes, the platform ends the other. */
export const waitAnHour: Step = {
  name: 'hour',
  title: 'Send imports that take longer than an hour',
  settles: ['sixtyMinutes'],
  actions: [...allow, ours, platforms],
  isExperiment: true,
  isOptional: true,
  perform: async ({ run, send }) => {
    for (const command of allow) await run(command);
    const [own, cut] = await Promise.all([send(ours), send(platforms)]);
    return [judge(own, 59, 'the function ends an import'), judge(cut, 60, 'the platform ends a request')];
  },
};

function judge(reply: Reply, minute: number, what: string): ReturnType<typeof finding> {
  const expected = `${what} after ${minute} minutes`;
  const observed = describeReply(reply);
  if (hasStatus(reply, 200)) return notSettled('sixtyMinutes', expected, `the import was faster: ${observed}`);
  const isInTime = Math.abs(reply.seconds - minute * MINUTE_SECONDS) < MINUTE_SECONDS / 2;
  const isEnd = reply.status === TIMED_OUT || reply.broken !== undefined;
  return finding('sixtyMinutes', expected, observed, isInTime && isEnd);
}
