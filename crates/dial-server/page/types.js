// The types of the page. Those of the interface are in interface.d.ts, which is made from its document; here are short names
// for them, and what only the page has. Nothing here runs.

/** @typedef {import("./interface").paths} Paths */
/** @typedef {import("./interface").components["schemas"]} Schemas */

/** A class has a shape on the page, so that two of one colour can be told apart. @typedef {Schemas["ClassInfo"] & {shape: number}} ClassInfo */
/** @typedef {Omit<Schemas["ProjectInfo"], "classes"> & {classes: ClassInfo[]}} Project */
/** @typedef {Schemas["ItemView"]} ItemView */
/** @typedef {Schemas["Believed"]} Believed */
/** @typedef {Schemas["Belief"]} Belief */
/** @typedef {Schemas["Shown"]} Shown */
/** @typedef {Schemas["Share"]} Share */
/** @typedef {Schemas["LabelOf"]} LabelOf */
/** @typedef {Schemas["HistoryRow"]} HistoryRow */
/** @typedef {Schemas["Estimates"]} Estimates */
/** @typedef {Schemas["Point"]} Point */
/** @typedef {Schemas["Calibration"]} Calibration */
/** @typedef {Schemas["SceneInfo"]} SceneInfo */
/** @typedef {Schemas["Decision"]} Decision */
/** @typedef {Schemas["Submission"]} Submission */
/** @typedef {Schemas["Stored"]} Stored */
/** @typedef {Schemas["Problem"]} Problem */
/** @typedef {Schemas["Passed"]} Passed */

/**
 * The paths that take a method, without what all begin with.
 * @template {"get"|"post"} M
 * @typedef {{[P in keyof Paths]: Paths[P] extends Record<M, object> ? P extends `/api/v1/${infer Name}` ? Name : never : never}[keyof Paths]} Path
 */
/**
 * What a method does at a path.
 * @template {"get"|"post"} M
 * @template {Path<M>} P
 * @typedef {`/api/v1/${P}` extends keyof Paths ? Paths[`/api/v1/${P}`][M] : never} Operation
 */
/**
 * The parameters of a path; null is as good as none.
 * @template {Path<"get">} P
 * @typedef {Operation<"get", P> extends {parameters: {query?: infer Q}} ? {[K in keyof Q]?: Q[K]|null} : never} Query
 */
/**
 * What a path is sent.
 * @template {Path<"post">} P
 * @typedef {Operation<"post", P> extends {requestBody: {content: {"application/json": infer B}}} ? B : never} Body
 */
/**
 * What a path answers.
 * @template {"get"|"post"} M
 * @template {Path<M>} P
 * @typedef {Operation<M, P> extends {responses: {200: {content: {"application/json": infer A}}}} ? A : never} Answer
 */

/**
 * A view of the page: made once, shown and hidden.
 * @typedef {object} View
 * @property {HTMLElement} element
 * @property {() => void} [show]
 * @property {() => void} [hide]
 * @property {(event: KeyboardEvent) => boolean} [key] True if the key was for this view.
 * @property {(what: "project"|"log"|"model"|"map") => void} [changed]
 */
export {};
