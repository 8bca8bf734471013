// The domain policy of a ZITADEL instance.

import { z } from 'zod';
import type { JsonObject } from '../../../shared/json/jsonObject.ts';
import { request, type ZitadelConnection } from '../zitadelConnection.ts';

const booleanField = z.boolean().default(false);
const policyResponse = z.looseObject({
  policy: z.object({
    userLoginMustBeDomain: booleanField,
    validateOrgDomains: booleanField,
    smtpSenderAddressMatchesInstanceDomain: booleanField,
  }),
});

/** The domain policy of a ZITADEL's instance, which applies to organisations without their own. */
type DomainPolicy = z.infer<typeof policyResponse>['policy'];

/** Reads the domain policy of the instance. */
export async function readDefaultDomainPolicy(connection: ZitadelConnection): Promise<DomainPolicy> {
  const call = { method: 'GET', path: '/admin/v1/policies/domain' } as const;
  return (await request(connection, call, policyResponse)).policy;
}

/**
 * Adds the instance's domain policy to an organisation without its own, unless it is that of an instance of this service:
 * the validity of user names depends on it, and no export has it.
 */
export function addDefaultDomainPolicy(organisation: JsonObject, policy: DomainPolicy): void {
  if (organisation.domainPolicy !== undefined || !Object.values(policy).includes(true)) return;
  organisation.domainPolicy = { orgId: organisation.orgId, ...policy };
}
