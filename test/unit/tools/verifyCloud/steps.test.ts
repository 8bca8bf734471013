import { describe, expect, it } from 'vitest';
import { describeRun } from '../../../../tools/verifyCloud/dryRun.ts';
import { findingsDocument } from '../../../../tools/verifyCloud/findings.ts';
import { exitCode } from '../../../../tools/verifyCloud/report.ts';
import { runSteps } from '../../../../tools/verifyCloud/session.ts';
import { steps } from '../../../../tools/verifyCloud/steps.ts';
import { fakeProject, given } from '../../../support/verifyCloud/fakeProject.ts';

describe('the whole run', () => {
  it('is as expected in a project that does what the documents say', async () => {
    const outcome = await runSteps(steps, fakeProject().session);
    expect(outcome).toMatchObject({ failures: [], isComplete: true, left: [] });
    expect(outcome.findings.filter(({ verdict }) => verdict !== 'as expected')).toEqual([]);
    expect(exitCode(outcome)).toBe(0);
  });

  it('has a finding for each statement that a step promises to settle', async () => {
    const { findings } = await runSteps(steps, fakeProject().session);
    const promised = new Set(steps.flatMap(({ settles }) => settles));
    expect(new Set(findings.map(({ statement }) => statement))).toEqual(promised);
  });

  it('does nothing that its description does not show', async () => {
    const { session, done } = fakeProject();
    await runSteps(steps, session);
    const learnt = new Map([
      ...given,
      ['REVISION', 'north-import-00001-abc'],
      ['POLICY', 'projects/acme-verify/alertPolicies/42'],
    ]);
    const shown = describeRun(steps, learnt).split('\n');
    expect(done.length).toBeGreaterThan(70);
    const isShown = (line: string) =>
      shown.some((one) => (line.startsWith('# write') ? one.startsWith(line) : one === line));
    expect(done.filter((line) => !isShown(line))).toEqual([]);
  });

  it('does all that its description shows, in its order', async () => {
    const { session, done } = fakeProject();
    await runSteps(steps, session);
    const shown = describeRun(steps, given).split('\n');
    const actions = shown.filter((line) => /^(gcloud|terraform|npm|git|tar|# |ACCEPTANCE_)/.test(line));
    const begins = actions.map((line) => line.replace(/\$[A-Z]+.*$/, '').replace(/^(# write [^:]*):.*$/, '$1'));
    const positions = begins.map((begin) => done.findIndex((line) => line.startsWith(begin)));
    expect(positions).not.toContain(-1);
    const firstUndo = begins.findIndex((line) => line.includes('policies delete'));
    expect(positions.slice(0, firstUndo)).toEqual(positions.slice(0, firstUndo).toSorted((a, b) => a - b));
  });

  it('deletes nothing in a project without the label', async () => {
    const foreign = { stdout: JSON.stringify({ projectNumber: '1', labels: { env: 'production' } }) };
    const { session, done } = fakeProject({ programs: [[/projects describe/, foreign]] });
    const outcome = await runSteps(steps, session);
    expect(done).toHaveLength(1);
    expect(outcome.failures.join()).toContain('the project has no label identity-verify=throwaway');
  });

  it('destroys a configuration that was applied in part, and keeps the state while anything is left', async () => {
    const { session, done } = fakeProject({
      programs: [[/terraform .* (apply|destroy)/, { code: 1, stderr: 'Error: quota' }]],
    });
    const { left } = await runSteps(steps, session);
    expect(left.map((line) => line.replace(/ -chdir=\S+/, '').split(' --project')[0])).toEqual([
      'terraform destroy -input=false -auto-approve',
      'gcloud storage rm --recursive gs://acme-verify-verify-terraform',
    ]);
    expect(done.filter((line) => line.includes('storage rm --recursive'))).toEqual([]);
    expect(done.some((line) => line.includes('secrets delete south-master-key'))).toBe(true);
  });

  it('gives Terraform two instances, and keeps keys out of every line', async () => {
    const { session, done, printed, files } = fakeProject();
    await runSteps(steps, session);
    const variables = JSON.parse(files.get('/work-directory/terraform/terraform.tfvars.json') ?? '');
    const exporters = ['serviceAccount:verify-exporter@acme-verify.iam.gserviceaccount.com'];
    expect(variables).toMatchObject({
      project_id: 'acme-verify',
      instances: {
        north: { domain: 'north.verify.example.com', exporters },
        south: { domain: 'south.verify.example.com' },
      },
    });
    const keys = ['north', 'south'].map((instance) => files.get(`/work-directory/${instance}-master-key`) ?? '');
    for (const key of keys) {
      expect(Buffer.from(key, 'base64')).toHaveLength(32);
      expect([...done, ...printed].join('\n')).not.toContain(key);
    }
    expect(keys[0]).not.toBe(keys[1]);
  });

  it('says which DNS records to create, before it waits for them', async () => {
    const { session, printed } = fakeProject();
    await runSteps(steps, session);
    expect(printed).toContain('  north.verify.example.com. A 203.0.113.7');
    expect(printed.join('\n')).toContain(
      '_acme-challenge.south.verify.example.com. CNAME south.authorize.googleapis.com.',
    );
  });

  it('is documented as a table of findings, with what no run settles', async () => {
    const { findings } = await runSteps(steps, fakeProject().session);
    const document = findingsDocument(findings, '2026-11-22', 'europe-west1');
    expect(document).toContain('| 100 databases | a quota is observed by exceeding it |');
    expect(document).toMatch(
      /^\| Cloud Run keeps some paths .* \| .* \| \/ready: 200, \/healthz: 404, .* \| as expected \|$/m,
    );
  });
});
