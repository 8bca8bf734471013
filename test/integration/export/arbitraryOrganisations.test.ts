import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { comparable } from '../../support/fixtures/comparable.ts';
import { filled } from '../../support/fixtures/filledOrganisation.ts';
import type { Organisation } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { repetitions } from '../../support/repetitions.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { arbitraryOrganisations } from './arbitraryOrganisations/arbitraryOrganisations.ts';

const json = z.json() satisfies z.ZodType<JsonValue>;

/** An organisation as ZITADEL's own descriptors write it: defaults omitted, names of enums, base64. */
function asZitadelWrites(org: Organisation): Organisation {
  const written = toJson(DataOrgSchema, fromJson(DataOrgSchema, json.parse(org)));
  return z.looseObject({ orgId: z.string() }).parse(written);
}

const loginPolicy = z.looseObject({
  secondFactors: z.array(z.string()).optional(),
  multiFactors: z.array(z.string()).optional(),
  idps: z.array(z.unknown()).optional(),
});

/** The same organisation in the shape of v1, as far as v1 can express it (zitadel 2.1). */
function asV1(org: Organisation): Organisation {
  const { domainPolicy, verifySmsOtpMessages, verifyEmailOtpMessages, orgState, ...rest } = org;
  const { secondFactors = [], multiFactors = [], idps = [], ...policy } = loginPolicy.parse(org.loginPolicy);
  const types = (factors: readonly string[]) => factors.map((type) => ({ type }));
  const outside = { secondFactors: types(secondFactors), multiFactors: types(multiFactors), idps };
  return { ...rest, iamPolicy: domainPolicy, loginPolicy: policy, ...outside };
}

function withoutV2(org: Organisation): Organisation {
  const { verifySmsOtpMessages, verifyEmailOtpMessages, ...rest } = org;
  return { ...rest, orgState: 'ORG_STATE_ACTIVE' };
}

describe('any organisations that the descriptors allow', () => {
  const runs = { numRuns: repetitions({ few: 6, many: 150 }), endOnFailure: true };

  async function roundTrip(field: string, orgs: readonly Organisation[]): Promise<readonly Organisation[]> {
    const instance = await testInstance(await openTestStore());
    const report = await instance.import({ timeout: '1m', with_keys: true, [field]: { orgs } });
    expect(report.errors).toBeUndefined();
    return (await instance.export()).orgs;
  }

  it.each(['data_orgs', 'data_orgsv1'])('are exported unchanged after an import as %s', async (field) => {
    await fc.assert(
      fc.asyncProperty(arbitraryOrganisations, async (orgs) => {
        const written = orgs.map(asZitadelWrites).map(filled);
        expect(comparable(await roundTrip(field, orgs))).toEqual(comparable(written));
      }),
      runs,
    );
  });

  it('are exported the same from a v1 document as from the v2 document of the same organisation', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryOrganisations, async (orgs) => {
        const written = orgs.map(asZitadelWrites);
        const fromV1 = await roundTrip('data_orgsv1', written.map(asV1));
        expect(comparable(fromV1)).toEqual(comparable(await roundTrip('data_orgs', written.map(withoutV2))));
      }),
      runs,
    );
  });
});
