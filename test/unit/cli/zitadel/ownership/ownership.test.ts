import { describe, expect, it } from 'vitest';
import {
  type ClaimedId,
  decideOwnership,
  type IdOwner,
  mayReferTo,
} from '../../../../../cli/zitadel/ownership/ownership.ts';

const person: ClaimedId = { orgId: 'mine', noun: 'person', isAggregate: true, isPerson: true };
const serviceUser: ClaimedId = { ...person, noun: 'service user', isPerson: false };
const application: ClaimedId = { ...serviceUser, noun: 'application', isAggregate: false };
const owner = (orgId: string, state: IdOwner['state'], noun = 'person'): IdOwner => ({ orgId, state, noun });

function decided(id: ClaimedId, owned: IdOwner | undefined, writesToFirstOwner: boolean): string {
  const decision = decideOwnership(id, owned, { writesToFirstOwner });
  return decision.outcome === 'refused' ? decision.conflict.reason : decision.outcome;
}

/** Decides for a release that writes the owner of the request, and for one that writes the first owner. */
const decidedBoth = (id: ClaimedId, owned: IdOwner | undefined) =>
  [false, true].map((first) => decided(id, owned, first));

describe('the decision about an id', () => {
  it('lets an import send a record with an id that no record ever had', () => {
    expect(decidedBoth(person, undefined)).toEqual(['free', 'free']);
  });

  it('recognises the records of the same organisation and kind', () => {
    expect(decidedBoth(person, owner('mine', 'live'))).toEqual(['own', 'own']);
    expect(decidedBoth(application, owner('mine', 'live', 'application'))).toEqual(['own', 'own']);
  });

  it.each([person, serviceUser, application])(
    'refuses an id that a live record of another organisation has, at every release: $noun',
    (id) => {
      expect(decidedBoth(id, owner('other', 'live', id.noun))).toEqual(['id_taken', 'id_taken']);
      expect(decidedBoth(id, owner('other', 'live', 'person'))).toEqual(['id_taken', 'id_taken']);
    },
  );

  it('refuses an id of the same organisation that a record of another kind has', () => {
    expect(decidedBoth(serviceUser, owner('mine', 'live'))).toEqual(['id_of_other_kind', 'id_of_other_kind']);
  });

  it('refuses an id that was deleted elsewhere only where a release writes to the old owner', () => {
    for (const id of [person, serviceUser])
      expect(decidedBoth(id, owner('other', 'deleted', id.noun))).toEqual(['free', 'id_deleted_elsewhere']);
    expect(decidedBoth(application, owner('other', 'deleted', 'application'))).toEqual(['free', 'free']);
    expect(decidedBoth(person, owner('mine', 'deleted'))).toEqual(['free', 'free']);
  });

  it('refuses the ids of people that were deleted with their organisation', () => {
    for (const orgId of ['mine', 'other'])
      expect(decidedBoth(person, owner(orgId, 'deletedWithOrganisation'))).toEqual(['id_deleted', 'id_deleted']);
    const service = owner('other', 'deletedWithOrganisation', 'service user');
    expect(decidedBoth(serviceUser, service)).toEqual(['free', 'id_deleted_elsewhere']);
    expect(decidedBoth(person, service)).toEqual(['free', 'id_deleted_elsewhere']);
  });

  it('lets records refer to those of their organisation, to open ones and to unknown ones only', () => {
    expect(mayReferTo('mine', undefined)).toBe(true);
    expect(mayReferTo('mine', owner('mine', 'live'))).toBe(true);
    expect(mayReferTo('mine', owner('other', 'live'))).toBe(false);
    expect(mayReferTo('mine', owner('other', 'deleted'))).toBe(true);
    expect(mayReferTo('mine', { ...owner('other', 'live'), openTo: 'mine' })).toBe(true);
    expect(mayReferTo('mine', { ...owner('other', 'live'), openTo: 'third' })).toBe(false);
  });
});
