import { type Body, gcloud, json, post } from '../action.ts';
import { largeOrganisation } from '../people.ts';
import { describeReply, finding, hasStatus, type Step } from '../step.ts';
import { expectImported } from './importReply.ts';

const MEGABYTES = 9;
const orgIds = ['880000000000000001', '880000000000000002', '880000000000000003'] as const;
const imports = orgIds.map((orgId) => post('north', 'import', largeOrganisation(orgId, MEGABYTES)));
const exportBody = (ids: readonly string[]): Body => json({ org_ids: ids, response_output: true });
const [small, large] = [
  post('north', 'export', exportBody(orgIds.slice(0, 1))),
  post('north', 'export', exportBody(orgIds)),
];
const raise = gcloud('run services update north-export --region=$REGION --update-env-vars=MAX_RESPONSE_BYTES=31000000');

/** Exports a file below the platform's limit for streamed responses, and one above it. */
export const receiveLargeResponses: Step = {
  name: 'response size',
  title: 'Receive responses of 9 and 27 MB with a content length',
  settles: ['largeResponse'],
  actions: [...imports, small, raise, large],
  isExperiment: true,
  perform: async ({ send, run }) => {
    for (const request of imports) expectImported(await send(request));
    const below = await send(small);
    await run(raise);
    const above = await send(large);
    const isWhole = hasStatus(above, 200) && above.announcedBytes === Buffer.byteLength(above.text);
    return [
      finding('largeResponse', '9 MB arrive whole', describeReply(below), hasStatus(below, 200)),
      finding('largeResponse', '27 MB with a content length arrive whole', describeReply(above), isWhole),
    ];
  },
};
