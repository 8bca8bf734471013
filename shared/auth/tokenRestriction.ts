import { z } from 'zod';
import { tokenForOtherOperation, tokenForOtherOrganisations } from '../errors/errors.ts';
import { type Operation, operations } from './tokenOperations.ts';

const restrictionSchema = z.strictObject({
  /** The only operation that the token is valid for. */
  operation: z.enum(operations).optional(),
  /** The only organisations that the token is valid for. */
  orgIds: z.array(z.string()).min(1).readonly().optional(),
});

/** What a token is restricted to, beyond what its user may do. Without fields it is not restricted. */
export type TokenRestriction = Readonly<z.output<typeof restrictionSchema>>;

/**
 * Parses the restriction of a stored token.
 * @param body the token's stored body; tokens without restriction have none
 */
export function parseRestriction(body: string | undefined): TokenRestriction {
  return body === undefined ? {} : restrictionSchema.parse(JSON.parse(body));
}

/** @throws IdentityError PERMISSION_DENIED unless the token is valid for the operation */
export function checkOperation({ operation }: TokenRestriction, requested: Operation): void {
  if (operation !== undefined && operation !== requested) throw tokenForOtherOperation(operation, requested);
}

/**
 * Checks that a request selects only organisations that the token is valid for.
 * @param selected the request's `org_ids`; an empty list selects all organisations
 * @throws IdentityError PERMISSION_DENIED
 */
export function checkOrganisations(restriction: TokenRestriction, selected: readonly string[]): void {
  const { orgIds } = restriction;
  if (orgIds === undefined) return;
  if (selected.length === 0 || !selected.every((orgId) => isValidFor(restriction, orgId)))
    throw tokenForOtherOrganisations(orgIds);
}

/** Whether the token is valid for an organisation; `undefined` is one that does not exist. */
export function isValidFor({ orgIds }: TokenRestriction, orgId: string | undefined): boolean {
  return orgIds === undefined || (orgId !== undefined && orgIds.includes(orgId));
}
