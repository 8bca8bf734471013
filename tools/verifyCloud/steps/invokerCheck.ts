import { z } from 'zod';
import { gcloud, type NewFile } from '../action.ts';
import { finding, type Step } from '../step.ts';
import { terraform, variables } from './terraform.ts';

const SERVICE = 'south-remove-otp-email';
const disable = gcloud(`run services update ${SERVICE} --region=$REGION --no-invoker-iam-check`);
const changed: NewFile = {
  kind: 'file',
  path: '$WORK/changed.tfvars.json',
  shown: 'the same variables, with log_level = "debug" for south',
  create: (values) => variables(values, { log_level: 'debug' }),
};
const apply = terraform('apply -input=false -auto-approve -var-file=$WORK/changed.tfvars.json');
const describe = gcloud(`run services describe ${SERVICE} --region=$REGION --format=json`);
const service = z.object({ metadata: z.object({ annotations: z.record(z.string(), z.string()).default({}) }) });

/** Disables the check of invokers, deploys a new revision of the function, and looks whether the check is back. */
export const redeployUnchecked: Step = {
  name: 'invoker check',
  title: 'Disable the check of invokers, and deploy a new revision',
  settles: ['keptSetting'],
  actions: [disable, changed, apply, describe],
  isExperiment: true,
  perform: async ({ run, write }) => {
    await run(disable);
    await write(changed);
    await run(apply);
    const { annotations } = service.parse(JSON.parse((await run(describe)).stdout)).metadata;
    const setting = annotations['run.googleapis.com/invoker-iam-disabled'] ?? 'absent';
    return [finding('keptSetting', 'invoker-iam-disabled stays true', setting, setting === 'true')];
  },
};
