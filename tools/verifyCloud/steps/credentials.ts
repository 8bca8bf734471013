import { randomBytes } from 'node:crypto';
import { gcloud, type NewFile } from '../action.ts';
import type { Step } from '../step.ts';

const KEY_BYTES = 32;

/** The instances of a run. */
export const instances = ['north', 'south'] as const;

const keyFiles = instances.map(
  (instance): NewFile => ({
    kind: 'file',
    path: `$WORK/${instance}-master-key`,
    shown: `${KEY_BYTES} random bytes in base64`,
    create: () => randomBytes(KEY_BYTES).toString('base64'),
  }),
);
const createSecrets = instances.map((instance) =>
  gcloud(`secrets create ${instance}-master-key --data-file=$WORK/${instance}-master-key`),
);

/** Creates the master keys: they are in files and in Secret Manager only. */
export const createMasterKeys: Step = {
  name: 'master keys',
  title: 'Create the master keys',
  settles: [],
  actions: [...keyFiles, ...createSecrets],
  undo: instances.map((instance) => ({ command: gcloud(`secrets delete ${instance}-master-key`) })),
  perform: async ({ write, run }) => {
    for (const file of keyFiles) await write(file);
    for (const secret of createSecrets) await run(secret);
    return [];
  },
};

const accounts = ['exporter', 'importer'] as const;

/** The address of an account whose keys requests carry. */
export function accountAddress(account: (typeof accounts)[number]): string {
  return `verify-${account}@$PROJECT.iam.gserviceaccount.com`;
}

const createAccounts = accounts.flatMap((account) => [
  gcloud(`iam service-accounts create verify-${account}`),
  gcloud(`iam service-accounts keys create $WORK/${account}.json --iam-account=${accountAddress(account)}`),
]);

/** Creates the accounts whose keys requests carry. gcloud writes a key to a file that only its owner can read. */
export const createKeyAccounts: Step = {
  name: 'accounts',
  title: 'Create the accounts for buckets, and their keys',
  settles: [],
  actions: createAccounts,
  undo: accounts.map((account) => ({
    command: gcloud(`iam service-accounts delete ${accountAddress(account)}`),
  })),
  perform: async ({ run }) => {
    for (const create of createAccounts) await run(create);
    return [];
  },
};
