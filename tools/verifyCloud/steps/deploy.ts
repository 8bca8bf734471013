import { type Command, command, gcloud, type NewFile } from '../action.ts';
import { finding, type Step } from '../step.ts';
import { accountAddress, instances } from './credentials.ts';
import { terraform, variables } from './terraform.ts';

const STATE = 'gs://$PROJECT-verify-terraform';
const createBucket = gcloud(
  `storage buckets create ${STATE} --location=$REGION --uniform-bucket-level-access --public-access-prevention`,
);

/** Creates the bucket of Terraform's state. It is the last to go: without the state, nothing else could be destroyed. */
export const createStateBucket: Step = {
  name: 'state',
  title: "Create the bucket of Terraform's state",
  settles: [],
  actions: [createBucket],
  undo: [{ command: gcloud(`storage rm --recursive ${STATE}`), isLast: true }],
  perform: async ({ run }) => {
    await run(createBucket);
    return [];
  },
};

const archive = command('git archive --output=$WORK/terraform.tar HEAD terraform');
const extract = command('tar -xf $WORK/terraform.tar -C $WORK');
const settings: NewFile = {
  kind: 'file',
  path: '$WORK/terraform/terraform.tfvars.json',
  shown: 'two instances, with the domains north.$DOMAIN and south.$DOMAIN',
  create: (values) => variables(values, {}),
};
const init = terraform('init -input=false -backend-config=bucket=$PROJECT-verify-terraform');

/** Initialises Terraform in a copy of the committed configuration, so that no settings of the work tree are used. */
export const initTerraform: Step = {
  name: 'terraform init',
  title: 'Initialise Terraform in a copy of the committed configuration',
  settles: [],
  actions: [archive, extract, settings, init],
  perform: async ({ run, write }) => {
    await run(archive);
    await run(extract);
    await write(settings);
    await run(init);
    return [];
  },
};

const plan = terraform('plan -input=false -out=$WORK/plan');
const apply = terraform('apply -input=false $WORK/plan');
const planAgain = terraform('plan -input=false -detailed-exitcode');

// The acceptance tests read from the bucket to which they have written.
const grantReading = gcloud(
  `storage buckets add-iam-policy-binding gs://$PROJECT-north-exports --member=serviceAccount:${accountAddress('importer')} --role=roles/storage.objectViewer`,
);

const destroy: readonly Command[] = [
  ...instances.flatMap((instance) =>
    ['exports', 'imports'].map((kind) => gcloud(`storage rm gs://$PROJECT-${instance}-${kind}/**`)),
  ),
  terraform('destroy -input=false -auto-approve'),
  ...instances.flatMap((instance) => [
    gcloud(`firestore databases update --database=${instance} --no-delete-protection`),
    gcloud(`firestore databases delete --database=${instance}`),
  ]),
];

/** Applies the configuration once, without a repetition, and plans again. */
export const applyTerraform: Step = {
  name: 'terraform apply',
  title: 'Apply the configuration',
  settles: ['deployment', 'buildRoles'],
  actions: [plan, apply, planAgain, grantReading],
  undo: destroy.map((undo) => ({ command: undo })),
  perform: async ({ run, attempt }) => {
    await run(plan);
    await run(apply);
    const { code } = await attempt(planAgain);
    await run(grantReading);
    const difference = code === 0 ? 'no difference' : code === 2 ? 'a difference' : `plan ended with ${code}`;
    return [
      finding('buildRoles', 'all functions are built', 'the first apply built all functions', true),
      finding('deployment', 'a plan after the first apply has no difference', difference, code === 0),
    ];
  },
};
