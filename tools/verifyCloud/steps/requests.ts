import { type Exchange, post } from '../action.ts';
import { padding } from '../people.ts';
import { describeReply, finding, hasStatus, type Reply, type Step } from '../step.ts';

const get = (path: string): Exchange => ({ kind: 'request', method: 'GET', url: `https://north.$DOMAIN${path}` });
const [healthz, readyz, ready] = [get('/healthz'), get('/readyz'), get('/ready')];
const isJson = ({ contentType }: Reply) => contentType.startsWith('application/json');

/** Requests the probes by both of their names. */
export const probeZPaths: Step = {
  name: 'paths',
  title: 'Request the probes by their names with and without z',
  settles: ['zPaths'],
  actions: [ready, healthz, readyz],
  isExperiment: true,
  perform: async ({ send }) => {
    const named = [ready, healthz, readyz];
    const [own, ...reserved] = [await send(ready), await send(healthz), await send(readyz)];
    const observed = [own, ...reserved].map(
      (reply, index) => `${named[index]?.url.split('$DOMAIN')[1]}: ${reply.status}`,
    );
    const isKept = reserved.some((reply) => !hasStatus(reply, 200) || !isJson(reply));
    const expected = '/ready gets 200 of the function, /healthz or /readyz does not';
    return [finding('zPaths', expected, observed.join(', '), hasStatus(own, 200) && isKept)];
  },
};

/** Above MAX_REQUEST_BYTES and below 32 MiB, then above both. */
const [ABOVE_OURS, ABOVE_GOOGLES] = [33_000_000, 36_000_000];
const [aboveOurs, aboveGoogles] = [
  post('north', 'import', padding(ABOVE_OURS)),
  post('north', 'import', padding(ABOVE_GOOGLES)),
];

/** Sends requests above the limits. */
export const sendLargeRequests: Step = {
  name: 'request size',
  title: 'Send requests that are too large',
  settles: ['largerRequest'],
  actions: [aboveOurs, aboveGoogles],
  isExperiment: true,
  perform: async ({ send }) => {
    const [ours, googles] = [await send(aboveOurs), await send(aboveGoogles)];
    return [
      finding('largerRequest', `413 for ${ABOVE_OURS} bytes`, describeReply(ours), hasStatus(ours, 413)),
      finding(
        'largerRequest',
        `413 with Google's page for ${ABOVE_GOOGLES} bytes`,
        describeReply(googles),
        hasStatus(googles, 413) && !isJson(googles),
      ),
    ];
  },
};
