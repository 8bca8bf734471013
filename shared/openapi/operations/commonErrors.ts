/** The errors that every operation has, by HTTP status. */
export const commonErrors: Readonly<Record<number, string>> = {
  401: 'The token is missing, wrong or expired.',
  503: 'The database does not answer, or the process is about to end: send the request again.',
};

/** Those of operations that take a body and a `timeout`, as a service user with the role IAM_OWNER. */
export const commonAdminErrors: Readonly<Record<number, string>> = {
  ...commonErrors,
  403: 'The caller does not have the role IAM_OWNER, or the service account may not reach the object.',
  413: 'The body is too large.',
  501: 'The request names an output or a source of ZITADEL that this service does not have: local files, S3.',
  504: 'The time is over.',
};
