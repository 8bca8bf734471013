import { describe, expect, it } from 'vitest';
import { readDomainQuery, readMethodsRequest } from '../../../functions/removeOtpEmail/contract.ts';

const read = (query: Record<string, string[]>) => {
  const domainQuery = readDomainQuery(query);
  return readMethodsRequest({ userId: '1', ...(domainQuery === undefined ? {} : { domainQuery }) }).domainQuery;
};

describe("the query of a user's authentication methods", () => {
  it('is absent if no parameter names it', () => {
    expect(read({})).toBeUndefined();
    expect(read({ domain: ['a'], domainquery: ['b'], 'domainQuery.Domain': ['c'] })).toBeUndefined();
  });

  it.each(['domainQuery', 'domain_query'])('is read in either spelling of each name: %s', (prefix) => {
    const expected = { domain: 'a.example', includeWithoutDomain: true };
    for (const name of ['includeWithoutDomain', 'include_without_domain']) {
      expect(read({ [`${prefix}.domain`]: ['a.example'], [`${prefix}.${name}`]: ['true'] })).toEqual(expected);
    }
  });

  it.each(['1', 't', 'T', 'true', 'TRUE', 'True'])('accepts %s as true', (text) => {
    expect(read({ 'domainQuery.includeWithoutDomain': [text] })).toEqual({ domain: '', includeWithoutDomain: true });
  });

  it.each(['0', 'f', 'F', 'false', 'FALSE', 'False'])('accepts %s as false', (text) => {
    expect(read({ 'domainQuery.includeWithoutDomain': [text] })).toEqual({ domain: '', includeWithoutDomain: false });
  });

  it.each(['', 'yes', 'tRUE', '2', ' true', 'constructor'])('rejects %j as a boolean', (text) => {
    const query = { 'domainQuery.includeWithoutDomain': [text] };
    expect(() => read(query)).toThrow('domainQuery.includeWithoutDomain: must be a single true or false');
  });

  it('rejects a repeated parameter, in whatever spelling', () => {
    expect(() => read({ 'domainQuery.domain': ['a', 'a'] })).toThrow('domainQuery.domain: must not be repeated');
    expect(() => read({ 'domainQuery.domain': ['a'], 'domain_query.domain': ['b'] })).toThrow('must not be repeated');
    const both = { 'domainQuery.includeWithoutDomain': ['1'], 'domainQuery.include_without_domain': ['1'] };
    expect(() => read(both)).toThrow('domainQuery.includeWithoutDomain: must be a single true or false');
  });
});
