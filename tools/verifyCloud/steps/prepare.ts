import { z } from 'zod';
import { command, gcloud } from '../action.ts';
import type { Step } from '../step.ts';

/** The label that allows a run to create and delete in a project. */
const LABEL = 'identity-verify=throwaway';

const describeProject = gcloud('projects describe $PROJECT --format=json');
const project = z.object({
  projectNumber: z.string(),
  labels: z.record(z.string(), z.string()).default({}),
});

/** Checks that the project is meant for the run, before anything is created in it. */
export const checkProject: Step = {
  name: 'project',
  title: 'Check that the project is a throwaway one',
  settles: [],
  actions: [describeProject],
  perform: async ({ run }) => {
    const { labels } = project.parse(JSON.parse((await run(describeProject)).stdout));
    const [name = '', value] = LABEL.split('=');
    if (labels[name] === value) return [];
    throw new Error(
      `the project has no label ${LABEL}: its databases and secrets would be deleted. Create a project for the run, with --labels=${LABEL}`,
    );
  },
};

const services = ['cloudresourcemanager', 'firestore', 'iam', 'orgpolicy', 'run', 'secretmanager', 'serviceusage'];
const enable = gcloud(`services enable ${services.map((name) => `${name}.googleapis.com`).join(' ')}`);

/** Enables the services that the commands need before Terraform enables the others. */
export const enableServices: Step = {
  name: 'services',
  title: 'Enable services',
  settles: [],
  actions: [enable],
  perform: async ({ run }) => {
    await run(enable);
    return [];
  },
};

const preflight = command('npm run -s preflight -- --project $PROJECT');

/** Looks for organisation policies that are in the way. */
export const checkPolicies: Step = {
  name: 'preflight',
  title: 'Look for organisation policies that are in the way',
  settles: [],
  actions: [preflight],
  perform: async ({ run, print }) => {
    print((await run(preflight)).stdout.trim());
    return [];
  },
};

const build = command('npm run -s build');

/** Builds the archives. */
export const buildArchives: Step = {
  name: 'archives',
  title: "Build the functions' archives",
  settles: [],
  actions: [build],
  perform: async ({ run }) => {
    await run(build);
    return [];
  },
};
