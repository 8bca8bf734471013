import { describe, expect, it } from 'vitest';
import { readConfiguration, readTerraform } from './terraformFiles.ts';

/** The resources of all modules, with the text of each. */
async function resources(): Promise<{ readonly address: string; readonly body: string }[]> {
  const text = (await readConfiguration()).map((file) => file.text).join('\n');
  return [...text.matchAll(/^resource "(\w+)" "(\w+)" \{\n([\s\S]*?)^\}$/gm)].map(
    ([, type = '', name = '', body = '']) => ({
      address: `${type}.${name}`,
      body,
    }),
  );
}

describe('resources that others use', () => {
  it('are replaced before they go', async () => {
    const kept = (await resources()).filter(({ body }) => /^ {4}create_before_destroy = true$/m.test(body));
    expect(kept.map(({ address }) => address).toSorted()).toEqual([
      'google_compute_backend_service.this',
      'google_firebaserules_ruleset.this',
      'google_monitoring_notification_channel.email',
      'google_monitoring_uptime_check_config.this',
      'google_project_iam_member.database',
      'google_secret_manager_secret_iam_member.master_key',
    ]);
  });

  it('are not functions: none is created before the failed one of its name is deleted', async () => {
    const [edge] = /^module "edge" \{\n[\s\S]*?^\}$/m.exec(await readTerraform('instances.tf')) ?? [];
    expect(edge).toContain('services = local.services[id]');
    expect(edge).not.toContain('module.instance');
  });
});

describe('the role of a build on the repository', () => {
  it('is granted again on a replaced repository', async () => {
    const { body } =
      (await resources()).find(({ address }) => address.startsWith('google_artifact_registry_repository_iam')) ?? {};
    expect(body).toContain('replace_triggered_by = [google_artifact_registry_repository.functions.id]');
  });
});

describe('the release of rules', () => {
  it('is deleted with its ruleset, because an old one would block the release of changed rules', async () => {
    const rules = (await resources()).filter(({ address }) => address.startsWith('google_firebaserules_'));
    expect(rules).toHaveLength(2);
    for (const { body } of rules) expect(body).not.toContain('deletion_policy');
  });
});

describe('what takes effect a while later', () => {
  /** The roles of an account, and the identifiers that a wait lists in its trigger. */
  async function rolesAndAwaited(account: string, wait: string) {
    const all = await resources();
    const granted = all.filter(({ body }) =>
      new RegExp(`^ {2}member += google_service_account\\.${account}(\\[[^\\]]+\\])?\\.member$`, 'm').test(body),
    );
    const { body = '' } = all.find(({ address }) => address === `time_sleep.${wait}`) ?? {};
    const awaited = body.match(/google_\w+\.\w+(?=(\)\[\*\])?\.id\b)/g)?.filter((address) => address.includes('_iam_'));
    return { granted: granted.map(({ address }) => address).toSorted(), awaited: awaited?.toSorted() };
  }

  it('is awaited for all roles of a build, by the functions alone', async () => {
    const { granted, awaited } = await rolesAndAwaited('build', 'build_roles');
    expect(granted).toHaveLength(4);
    expect(awaited).toEqual(granted);
    const [instance = ''] = /^module "instance" \{\n[\s\S]*?^\}$/m.exec(await readTerraform('instances.tf')) ?? [];
    expect(instance).toContain('time_sleep.build_roles.triggers["account"]');
    // A dependency of the whole module would spread create_before_destroy to the repository of images.
    expect(instance).toMatch(/^ {2}depends_on = \[time_sleep\.services\]$/m);
  });

  it("is awaited for all roles of an instance's functions", async () => {
    const { granted, awaited } = await rolesAndAwaited('function', 'roles');
    expect(granted).toHaveLength(4);
    expect(awaited).toEqual(granted);
    expect(await readTerraform('modules/instance/functions.tf')).toMatch(/^ {2}depends_on = \[time_sleep\.roles\]$/m);
  });

  it('is awaited for services by everything that uses one', async () => {
    const text = (await readConfiguration()).map((file) => file.text).join('\n');
    expect(text.match(/depends_on = \[.*google_project_service\.this.*\]/g)).toHaveLength(1);
    for (const name of ['instance', 'edge', 'monitoring']) {
      expect(await readTerraform('instances.tf')).toMatch(
        new RegExp(`^module "${name}" \\{[\\s\\S]*?^ {2}depends_on = \\[time_sleep\\.services\\]$`, 'm'),
      );
    }
  });
});

describe('the provider', () => {
  it("bills the project for calls with a user's credentials, which the Firebase Rules API demands", async () => {
    const versions = await readTerraform('versions.tf');
    expect(versions).toMatch(/^ {2}billing_project += var\.project_id$/m);
    expect(versions).toMatch(/^ {2}user_project_override = true$/m);
  });

  it('gives all resources the labels', async () => {
    expect(await readTerraform('versions.tf')).toMatch(/^ {2}default_labels = local\.labels$/m);
  });
});
