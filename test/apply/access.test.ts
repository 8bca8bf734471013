import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Applied, startProject, type Variables } from './terraform.ts';

const FUNCTIONS = ['remove-otp-email', 'export', 'import'];
const WARNING = 'Check block assertion failed';

describe('access without allUsers, applied with the real provider', () => {
  let applied: Applied;

  beforeAll(async () => {
    applied = await startProject({ secrets: ['north-master-key', 'south-master-key'] });
  });

  afterAll(() => applied[Symbol.asyncDispose]());

  const ORIGIN = 'https://console.example.com';
  const withAccess = (
    access: string,
    ids: readonly string[] = ['north'],
    origins: readonly string[] = [],
  ): Variables => ({
    project_id: 'acme-identity',
    region: 'europe-west1',
    alert_email: 'operations@example.com',
    dist_directory: 'tests/archives',
    public_access: access,
    instances: Object.fromEntries(ids.map((id) => [id, { domains: [`${id}.example.com`], cors_origins: origins }])),
  });

  const services = (id: string) =>
    FUNCTIONS.map((name) => `run/projects/acme-identity/locations/europe-west1/services/${id}-${name}`);

  const grants = (id: string) =>
    services(id).flatMap((key) => applied.project.policies.get(key)?.bindings.flatMap(({ members }) => members) ?? []);

  const commands = (id: string) =>
    FUNCTIONS.map(
      (name) =>
        `gcloud run services update ${id}-${name} --no-invoker-iam-check --region=europe-west1 --project=acme-identity`,
    );

  /** Does what the commands do. */
  function runCommands(id: string): void {
    for (const key of services(id))
      applied.project.put(key, { ...applied.project.held(key), invokerIamDisabled: true });
  }

  it('is rejected with the commands while Cloud Run checks invokers, and deletes no grant', async () => {
    await applied.apply(withAccess('allUsers'));
    const output = await applied.planned(withAccess('unchecked')).catch(String);
    expect(output).toContain('This apply would delete the grants to allUsers');
    for (const command of commands('north')) expect(output).toContain(command);
    await expect(applied.apply(withAccess('unchecked'))).rejects.toThrow('This apply would delete the grants');
    expect(grants('north')).toEqual(['allUsers', 'allUsers', 'allUsers']);
  });

  it('is rejected with the commands too if the same apply updates the functions', async () => {
    const output = await applied.planned(withAccess('unchecked', ['north'], [ORIGIN])).catch(String);
    expect(output).toContain('This apply would delete the grants to allUsers');
    for (const command of commands('north')) expect(output).toContain(command);
    expect(grants('north')).toEqual(['allUsers', 'allUsers', 'allUsers']);
  });

  it('needs no grant after the commands', async () => {
    runCommands('north');
    expect(await applied.apply(withAccess('unchecked'))).not.toContain(WARNING);
    expect(grants('north')).toEqual([]);
    expect(await applied.planned(withAccess('unchecked'))).toBe('');
  });

  it('is checked after an update of a function, which prints the commands again', async () => {
    const changed = withAccess('unchecked', ['north'], [ORIGIN]);
    expect(await applied.apply(changed)).toContain(WARNING);
    const again = await applied.apply(changed);
    expect(again).toContain(WARNING);
    for (const command of commands('north')) expect(again).toContain(command);
    runCommands('north');
    expect(await applied.planned(changed)).toBe('');
  });

  it('is checked after the creation of an instance', async () => {
    runCommands('north');
    const output = await applied.apply(withAccess('unchecked', ['north', 'south'], [ORIGIN]));
    expect(output).toContain(WARNING);
    expect(output).toContain('south-export');
    expect(grants('south')).toEqual([]);
  });

  it('is granted again with allUsers', async () => {
    await applied.apply(withAccess('allUsers'));
    expect(grants('north')).toEqual(['allUsers', 'allUsers', 'allUsers']);
    expect(await applied.planned(withAccess('allUsers'))).toBe('');
    expect(applied.google.unexpected).toEqual([]);
  });

  /** Lists the services of north that reject each request. */
  const rejecting = () =>
    services('north').filter(
      (key) => !applied.project.held(key).invokerIamDisabled && !applied.project.policies.get(key)?.bindings.length,
    );

  it('is lost until the commands are run again, if the apply that deletes the grants updates the functions too', async () => {
    runCommands('north');
    expect(await applied.apply(withAccess('unchecked', ['north'], [ORIGIN]))).toContain(WARNING);
    expect(rejecting()).toHaveLength(3);
    const again = await applied.apply(withAccess('unchecked', ['north'], [ORIGIN]));
    for (const command of commands('north')) expect(again).toContain(command);
  });

  it('is never lost if the functions are updated first, and the next apply changes only public_access', async () => {
    await applied.apply(withAccess('allUsers', ['north'], [ORIGIN]));
    await applied.apply(withAccess('allUsers'));
    expect(rejecting()).toEqual([]);
    runCommands('north');
    expect(await applied.apply(withAccess('unchecked'))).not.toContain(WARNING);
    expect(rejecting()).toEqual([]);
  });
});
