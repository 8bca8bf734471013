/**
 * Content of a message's JSON that the message's definition lacks. Decoders of protobuf messages ignore such content.
 */
export interface UnknownContent {
  /** The paths of unknown fields, such as `user.favouriteColour`, without the positions in lists. */
  readonly fields: readonly string[];
  /**
   * Unknown enumeration values, each with the path of the field, such as `user.profile.gender`. The path has JSON
   * names.
   */
  readonly values: readonly { readonly path: string; readonly value: string | number }[];
}

export const nothingUnknown: UnknownContent = { fields: [], values: [] };
