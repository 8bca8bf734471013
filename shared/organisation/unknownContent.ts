/**
 * Content of a message's JSON that is not in the message's definition. The JSON form of protobuf messages ignores it.
 */
export interface UnknownContent {
  /** The paths of unknown fields, such as `user.favouriteColour`, without the positions in lists. */
  readonly fields: readonly string[];
  /** Unknown enumeration values. Each has the path of its field in JSON names, such as `user.profile.gender`. */
  readonly values: readonly { readonly path: string; readonly value: string | number }[];
}

/** The value for a message without unknown content. */
export const nothingUnknown: UnknownContent = { fields: [], values: [] };
