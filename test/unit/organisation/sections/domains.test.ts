import { describe, expect, it } from 'vitest';
import { domainSection } from '../../../../shared/organisation/sections/domains.ts';

const primary = { domainName: 'a.example', isPrimary: true };
const verified = { ...primary, isVerified: true };
const validating = { validatesDomains: true };
const lenient = { validatesDomains: false };
const always = () => true;
const never = () => false;

describe('a primary domain', () => {
  it('stays so as the last one of the file', () => {
    expect(domainSection.adjust?.(primary, always, lenient)).toBeUndefined();
    expect(domainSection.adjust?.(verified, always, validating)).toBeUndefined();
  });

  it('gives way to a later one, with a warning', () => {
    const message = 'isPrimary is true in a later record of the file: imported without it';
    expect(domainSection.adjust?.(primary, never, lenient)).toEqual({ unset: 'isPrimary', warning: message });
  });

  it('must be verified where the organisation validates its domains', () => {
    const error = { type: 'domain_isprimary', issue: { id: 'ORG-Ggd32', key: 'Errors.Org.DomainNotVerified' } };
    expect(domainSection.adjust?.(primary, always, validating)).toEqual({ unset: 'isPrimary', error });
  });

  it('gives way there to verified ones only', () => {
    const isLast = (mark: string) => domainSection.marks?.(verified).includes(mark) === true;
    expect(domainSection.adjust?.(verified, isLast, validating)).toBeUndefined();
    expect(domainSection.marks?.(primary)).toEqual(['primary']);
    expect(domainSection.marks?.({ domainName: 'a.example', isVerified: true })).toEqual([]);
  });
});
