import { gcloud, type NewFile } from '../action.ts';
import { redact } from '../redact.ts';
import { finding, type Step } from '../step.ts';

const VALUES = 75;
const END_OF_OUTPUT = 300;
const policy: NewFile = {
  kind: 'file',
  path: '$WORK/policy.json',
  shown: `an alert policy whose filter lists ${VALUES} services`,
  create: () => {
    const names = Array.from({ length: VALUES }, (_, index) => `"instance-${index}-remove-otp-email"`).join(', ');
    const filter = `resource.type = "cloud_run_revision" AND metric.type = "run.googleapis.com/request_count" AND resource.labels.service_name = one_of(${names})`;
    const aggregations = [{ alignmentPeriod: '300s', perSeriesAligner: 'ALIGN_DELTA' }];
    const threshold = { filter, aggregations, comparison: 'COMPARISON_GT', thresholdValue: 1, duration: '0s' };
    const conditions = [{ displayName: 'requests', conditionThreshold: threshold }];
    return JSON.stringify({ displayName: 'verify', combiner: 'OR', conditions });
  },
};
const create = gcloud('alpha monitoring policies create --policy-from-file=$WORK/policy.json --format=value(name)');

/** Creates an alert policy with the filter of a full cell. */
export const createLongFilter: Step = {
  name: 'filter',
  title: `Create an alert policy whose filter lists ${VALUES} services`,
  settles: ['filterValues'],
  actions: [policy, create],
  undo: [{ command: gcloud('alpha monitoring policies delete $POLICY') }],
  isExperiment: true,
  perform: async ({ write, attempt, set }) => {
    await write(policy);
    const { code, stdout, stderr } = await attempt(create);
    if (code === 0) set('POLICY', stdout.trim());
    const observed = code === 0 ? 'created' : redact(stderr).trim().slice(-END_OF_OUTPUT);
    return [finding('filterValues', `${VALUES} values are accepted`, observed, code === 0)];
  },
};
