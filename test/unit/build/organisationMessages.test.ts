import { expect, it } from 'vitest';
import { z } from 'zod';
import { bundleScript } from '../../../tools/build/bundling.ts';
import { nodeMajor, readLockFile } from '../../../tools/build/deployedPackage.ts';
import { selectOrganisationMessages } from '../../../tools/build/organisationMessages.ts';
import { organisationDefinitions } from '../../support/organisationDefinitions.ts';

const bundle = z.object({ organisationDefinitions: z.record(z.string(), z.array(z.unknown())) });

it('bundles of functions define the organisation document as the sources do, without the other messages of its files', async () => {
  const { contents, output } = await bundleScript(
    'test/support/organisationDefinitions.ts',
    nodeMajor(await readLockFile()),
    { plugins: [selectOrganisationMessages] },
  );
  const module = { exports: {} };
  new Function('module', Buffer.from(contents).toString())(module);
  expect(bundle.parse(module.exports).organisationDefinitions).toEqual(organisationDefinitions);
  expect(Object.keys(organisationDefinitions)).toContain('zitadel.management.v1.AddOrgRequest');
  const definitions = Object.entries(output.inputs).filter(([path]) => path.includes('@zitadel/proto/es/zitadel/'));
  const bytes = definitions.reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(100_000);
});
