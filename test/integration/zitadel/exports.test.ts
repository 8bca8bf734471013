import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { comparable } from '../../support/fixtures/comparable.ts';
import { withInnerIds } from '../../support/fixtures/filledOrganisation.ts';
import {
  type Organisation,
  zitadelExport,
  zitadelExports,
  zitadelRequest,
} from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const projects = z.array(z.looseObject({ projectId: z.string() })).default([]);

/** The organisation as this service exports it: with the members of its own projects only, and service users' ids inside. */
function asExported(org: Organisation): Organisation {
  const own = new Set(projects.parse(org.projects).map(({ projectId }) => projectId));
  const { projectMembers, ...rest } = org;
  const members = projects.parse(projectMembers).filter(({ projectId }) => own.has(projectId));
  return withInnerIds({ ...rest, ...(members.length === 0 ? {} : { projectMembers: members }) });
}

const CONTOSO = '400633194191260710';
/** The organisation to which those of the files made by API have grants, and which these files do not hold. */
const contoso = zitadelRequest('import-of-our-export-request').filter(({ orgId }) => orgId === CONTOSO);

describe('a file that a ZITADEL exported', () => {
  it.each(zitadelExports)('imports without a fault and comes back complete: %s', async (name) => {
    const orgs = zitadelExport(name);
    const instance = await testInstance(await openTestStore(sqlite));
    const given = name.startsWith('export-made-by-api') ? [...orgs, ...contoso] : orgs;
    const { errors, summary } = await instance.import({ data_orgs: { orgs: given }, with_keys: true });
    expect({ errors, failed: summary.failed }).toEqual({ errors: undefined, failed: {} });
    const exported = await instance.export({ org_ids: orgs.map(({ orgId }) => orgId) });
    expect(comparable(exported.orgs)).toEqual(comparable(orgs.map(asExported)));
  });
});
