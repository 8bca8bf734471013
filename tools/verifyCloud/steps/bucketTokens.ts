import type { Authorization, Exchange } from '../action.ts';
import { describeReply, finding, type Step } from '../step.ts';

/** The tokens, and the statuses that agree with decision 22: whether JWTs with a scope are accepted is disputed. */
const variants: readonly { as: Extract<Authorization, { as: string }>['as']; expected: readonly number[] }[] = [
  { as: 'exchanged', expected: [200] },
  { as: 'audience', expected: [200] },
  { as: 'scope', expected: [401, 200] },
];
const requests = variants.map(
  ({ as }): Exchange => ({
    kind: 'request',
    method: 'GET',
    url: 'https://storage.googleapis.com/storage/v1/b/$PROJECT-north-exports/o?maxResults=1',
    authorization: { keyFile: '$WORK/importer.json', as },
  }),
);

/** Lists a bucket with each kind of token that a key can make. */
export const tryTokens: Step = {
  name: 'tokens',
  title: 'List a bucket with an exchanged token, and with self-signed ones',
  settles: ['exchangedKeys'],
  actions: requests,
  isExperiment: true,
  perform: async ({ send }) => {
    const replies = await Promise.all(requests.map(send));
    return replies.map((reply, index) => {
      const { as = '', expected = [] } = variants[index] ?? {};
      const isExpected = expected.some((status) => status === reply.status);
      return finding('exchangedKeys', `${as}: ${expected.join(' or ')}`, describeReply(reply), isExpected);
    });
  },
};
