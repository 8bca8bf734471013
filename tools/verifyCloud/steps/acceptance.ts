import { command } from '../action.ts';
import { redact } from '../redact.ts';
import { finding, type Step } from '../step.ts';
import { instances } from './credentials.ts';

const initialise = instances.map((instance) =>
  command(`npm run -s identity -- init --firestore $PROJECT/${instance} --token-file $WORK/${instance}.pat`),
);

/** Creates the first token of each instance. */
export const initialiseInstances: Step = {
  name: 'init',
  title: 'Create the first tokens',
  settles: [],
  actions: initialise,
  perform: async ({ run }) => {
    for (const init of initialise) await run(init);
    return [];
  },
};

const tests = command('npm test -s -- --project acceptance', {
  ACCEPTANCE_SOURCE_URL: 'https://north.$DOMAIN',
  ACCEPTANCE_SOURCE_TOKEN: '@$WORK/north.pat',
  ACCEPTANCE_TARGET_URL: 'https://south.$DOMAIN',
  ACCEPTANCE_TARGET_TOKEN: '@$WORK/south.pat',
  ACCEPTANCE_TARGET_DATABASE: '--firestore $PROJECT/south',
  ACCEPTANCE_BUCKET: '$PROJECT-north-exports',
  ACCEPTANCE_EXPORTER: '$WORK/exporter.json',
  ACCEPTANCE_IMPORTER: '$WORK/importer.json',
});
const END_OF_OUTPUT = 4_000;

/** Runs the acceptance tests through the domains. */
export const acceptDeployment: Step = {
  name: 'acceptance',
  title: 'Run the acceptance tests through the domains',
  settles: ['deployment'],
  actions: [tests],
  isExperiment: true,
  perform: async ({ attempt, print }) => {
    const { code, stdout, stderr } = await attempt(tests);
    if (code !== 0) print(redact(`${stdout}${stderr}`).slice(-END_OF_OUTPUT));
    const [summary = `ended with ${code}`] = /^\s*Tests\s.*$/m.exec(stdout) ?? [];
    return [finding('deployment', 'all acceptance tests pass', summary.trim(), code === 0)];
  },
};
