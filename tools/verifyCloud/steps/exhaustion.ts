import { gcloud, post } from '../action.ts';
import { slowOrganisation } from '../people.ts';
import { finding, type Step } from '../step.ts';

const IMPORTS = 4;
const PEOPLE = 120;
const TOO_MANY = 429;

const oneProcess = gcloud('run services update south-import --region=$REGION --max-instances=1');
const imports = Array.from({ length: IMPORTS }, (_, index) =>
  post('south', 'import', slowOrganisation(`88000000000000001${index}`, PEOPLE, '5m')),
);

/** Leaves a function one process, and sends it four imports at once that take half a minute each. */
export const exhaustImport: Step = {
  name: 'exhaustion',
  title: 'Send four imports at once to a function with one process',
  settles: ['exhausted'],
  actions: [oneProcess, ...imports],
  isExperiment: true,
  perform: async ({ run, send }) => {
    await run(oneProcess);
    const statuses = (await Promise.all(imports.map(send))).map(({ status }) => status);
    const isExpected = statuses.includes(200) && statuses.includes(TOO_MANY);
    return [finding('exhausted', 'one gets 200, others 429', statuses.join(', '), isExpected)];
  },
};
