/** What a tool tells the model that used it wrongly: it is answered to the model, the run does not see it. */
export class ToolRefusal extends Error {
  override readonly name = 'ToolRefusal';
}
