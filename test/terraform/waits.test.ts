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
