/** The stream of an ACP connection, of any SDK generation (ACP.md A-2). */
export interface MessageStream<Message = unknown> {
  readonly readable: ReadableStream<Message>;
  readonly writable: WritableStream<Message>;
}
