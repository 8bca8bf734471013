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
      'google_certificate_manager_certificate.this',
      'google_certificate_manager_certificate_map_entry.this',
      'google_certificate_manager_dns_authorization.this',
      'google_compute_backend_service.this',
      'google_firebaserules_ruleset.this',
      'google_monitoring_notification_channel.email',
      'google_monitoring_uptime_check_config.this',
      'google_storage_bucket_object.source',
    ]);
  });

  it('are not functions: none is created before the failed one of its name is deleted', async () => {
    const [edge] = /^module "edge" \{\n[\s\S]*?^\}$/m.exec(await readTerraform('instances.tf')) ?? [];
    expect(edge).toContain('services = local.services[id]');
    expect(edge).not.toContain('module.instance');
  });
});

describe('roles', () => {
  it('of a build have taken effect before the first one', async () => {
    const roles = (await resources()).filter(({ body }) =>
      /^ {2}member += google_service_account\.build\.member$/m.test(body),
    );
    const awaited = /^resource "time_sleep" "build_roles" \{\n[\s\S]*?depends_on = \[([^\]]+)\]/m.exec(
      await readTerraform('build.tf'),
    );
    expect(awaited?.[1]?.match(/[\w.]+/g)?.toSorted()).toEqual(roles.map(({ address }) => address).toSorted());
    expect(roles).toHaveLength(4);
    expect(await readTerraform('instances.tf')).toMatch(
      /^module "instance" \{[\s\S]*?^ {2}depends_on = \[.*\btime_sleep\.build_roles\b.*\]$/m,
    );
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
