import { describe, expect, it } from 'vitest';
import { command, gcloud } from '../../../../tools/verifyCloud/action.ts';
import { exitCode, reportRun } from '../../../../tools/verifyCloud/report.ts';
import { runSteps } from '../../../../tools/verifyCloud/session.ts';
import { finding, type Step } from '../../../../tools/verifyCloud/step.ts';
import { fakeProject, given } from '../../../support/verifyCloud/fakeProject.ts';

/** A step that creates something and deletes it again. */
function step(name: string, more: Partial<Step> = {}): Step {
  const create = gcloud(`things create ${name}`);
  return {
    name,
    title: `Create ${name}`,
    settles: ['zPaths'],
    actions: [create],
    undo: [{ command: gcloud(`things delete ${name}`) }],
    perform: async ({ run }) => {
      await run(create);
      return [finding('zPaths', 'kept', 'kept', true)];
    },
    ...more,
  };
}

const things = (lines: readonly string[]) => lines.map((line) => line.split(' ').slice(2, 4).join(' '));

describe('a run', () => {
  it('performs its steps in their order, and takes them back in the opposite one', async () => {
    const { session, done } = fakeProject();
    const outcome = await runSteps([step('a'), step('b')], session);
    expect(things(done)).toEqual(['create a', 'create b', 'delete b', 'delete a']);
    expect(outcome).toMatchObject({ failures: [], isComplete: true, left: [] });
    expect(exitCode(outcome)).toBe(0);
  });

  it('takes back what was done when a step fails in the middle, that step included, and begins no other', async () => {
    const { session, done } = fakeProject({ programs: [[/create b/, { code: 1, stderr: 'no quota' }]] });
    const outcome = await runSteps([step('a'), step('b'), step('c')], session);
    expect(things(done)).toEqual(['create a', 'create b', 'delete b', 'delete a']);
    expect(outcome.failures.join()).toMatch(/^b: gcloud things create b .* ended with 1:\nno quota$/);
    expect([outcome.isComplete, exitCode(outcome)]).toEqual([false, 1]);
  });

  it('continues after an experiment that fails, and says that it settled nothing', async () => {
    const { session, done } = fakeProject({ programs: [[/create a/, { code: 1 }]] });
    const outcome = await runSteps([step('a', { isExperiment: true }), step('b')], session);
    expect(things(done)).toEqual(['create a', 'create b', 'delete b', 'delete a']);
    expect(outcome.findings.map(({ verdict }) => verdict)).toEqual(['not settled', 'as expected']);
    expect([outcome.isComplete, exitCode(outcome)]).toEqual([true, 1]);
  });

  it('takes everything back after an interruption, without interrupting that', async () => {
    const signals: boolean[] = [];
    const interrupt = async () => {
      project.stop.abort();
      return { code: 130 };
    };
    const remember = async (signal: AbortSignal) => {
      signals.push(signal.aborted);
      return {};
    };
    const project = fakeProject({
      programs: [
        [/create b/, interrupt],
        [/delete/, remember],
      ],
    });
    const { session, done } = project;
    const outcome = await runSteps([step('a'), step('b', { isExperiment: true }), step('c')], session);
    expect(things(done)).toEqual(['create a', 'create b', 'delete b', 'delete a']);
    expect(signals).toEqual([false, false]);
    expect(outcome.failures).toEqual(['the run was interrupted']);
    expect(outcome.isComplete).toBe(false);
  });

  it('tries to delete three times, continues with the rest, and says what is left', async () => {
    const { session, done } = fakeProject({ programs: [[/delete b/, { code: 1, stderr: 'in use' }]] });
    const last = { undo: [{ command: gcloud('things delete state'), isLast: true }] };
    const outcome = await runSteps([step('state', last), step('a'), step('b')], session);
    expect(things(done).slice(3)).toEqual(['delete b', 'delete b', 'delete b', 'delete a']);
    expect(things(outcome.left)).toEqual(['delete b', 'delete state']);
    expect(exitCode(outcome)).toBe(1);
    expect(reportRun(outcome, given)).toContain('gcloud things delete b --project=acme-verify --quiet');
  });

  it('counts as deleted what gcloud does not find, but not what Terraform reports', async () => {
    const gone = { code: 1, stderr: 'ERROR: NOT_FOUND: no such thing' };
    const { session } = fakeProject({ programs: [[/delete|destroy/, gone]] });
    const destroy = { undo: [{ command: command('terraform destroy') }] };
    const outcome = await runSteps([step('a'), step('b', destroy)], session);
    expect(outcome.left).toEqual(['terraform destroy']);
  });

  it('exits with 3 where an observation contradicts, and says which', async () => {
    const { session } = fakeProject();
    const contradicting = { perform: async () => [finding('zPaths', 'kept', 'served', false)] };
    const outcome = await runSteps([step('a', contradicting)], session);
    expect(exitCode(outcome)).toBe(3);
    expect(reportRun(outcome, given)).toContain('contradicts zPaths: kept; served');
  });

  it('does nothing that the step does not list, because the description would not show it', async () => {
    const { session, done } = fakeProject();
    const outcome = await runSteps([step('a', { actions: [] })], session);
    expect(outcome.failures.join()).toContain('a does not list gcloud things create a');
    expect(things(done)).toEqual(['delete a']);
  });

  it('prints no token of a program that shows one', async () => {
    const shown = 'Bearer idpat_abc-DEF_1 ya29.a0Ab "private_key": "-----BEGIN PRIVATE KEY-----\\nMIIE"';
    const { session, printed } = fakeProject({ programs: [[/create|delete/, { code: 1, stderr: shown }]] });
    const outcome = await runSteps([step('a')], session);
    const all = [...printed, reportRun(outcome, given)].join('\n');
    expect(all).toContain('Bearer …');
    expect(all).not.toMatch(/idpat_|ya29|MIIE/);
  });
});
