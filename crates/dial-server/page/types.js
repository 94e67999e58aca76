// What the interface sends, as far as the page reads it. Only types: nothing here runs.

/** @typedef {{id: number, name: string, colour: string, key: string, labels: number, shape: number}} ClassInfo */
/**
 * @typedef {object} Project
 * @property {string} name
 * @property {string} id
 * @property {string} pool
 * @property {string} item_word
 * @property {number} items
 * @property {number} labelled
 * @property {ClassInfo[]} classes
 * @property {Record<string, number>} annotators
 * @property {string} acquisition
 * @property {number} overlap
 * @property {number} version
 * @property {number} model_version
 * @property {boolean} model_ready
 * @property {string|null} banner
 * @property {number} parked
 */
/** @typedef {{class: number, weight: number}} Share */
/** @typedef {{annotator: string, classes: Share[]}} LabelOf */
/**
 * @typedef {object} Shown
 * @property {"picture"|"text"|"numbers"|"spectrum"} kind
 * @property {string} [url]
 * @property {string} [text]
 * @property {string[]} [names]
 * @property {(number|null)[]} [values]
 * @property {number[]} [wavelengths]
 * @property {string} [unit]
 * @property {number} [row]
 * @property {number} [column]
 */
/**
 * @typedef {object} Belief
 * @property {number} class
 * @property {{class: number, probability: number}[]} probabilities
 * @property {number} variance
 * @property {number} evidence
 * @property {boolean} reached
 * @property {number} version
 */
/**
 * @typedef {object} Card
 * @property {string} id
 * @property {number} row
 * @property {Shown} show
 * @property {[string, string][]} beside
 * @property {Belief|null} belief
 * @property {string|null} why
 * @property {boolean} audit
 * @property {LabelOf[]} labels
 * @property {{id: string, class: number, distance: number, show: Shown}[]} nearest
 * @property {{class: number, items: number}[]} [changes]
 */
/** @typedef {{id: string, row: number, show: Shown, belief: Belief, labels: LabelOf[]}} Believed */
/**
 * @typedef {object} HistoryRow
 * @property {number} seq
 * @property {number} time
 * @property {string} annotator
 * @property {number} group
 * @property {string} kind
 * @property {string|null} item
 * @property {string} text
 * @property {Share[]} [classes]
 * @property {boolean} late
 */
/** @typedef {{seq: number, group: number, repeated: boolean, known: boolean, late: boolean, also_by?: string[], items?: string[], version: number}} Stored */
/**
 * A decision as the interface takes it.
 * @typedef {object} Deed
 * @property {string} kind
 * @property {string} [item]
 * @property {{class: number, weight?: number}[]} [classes]
 * @property {number|null} [group]
 * @property {string} [name]
 * @property {number} [class]
 * @property {number} [from]
 * @property {number} [into]
 * @property {string} [colour]
 * @property {string} [key]
 * @property {number} [parked]
 */
/** @typedef {{key: string, annotator: string, decisions: Deed[], replace?: boolean}} Submission */
/** @typedef {{mean: number, low: number, high: number}} Accuracy */
/**
 * @typedef {object} Estimates
 * @property {number} version
 * @property {number} items
 * @property {number} labelled
 * @property {number} classes_met
 * @property {number} classes
 * @property {number} settled
 * @property {number|null} flips
 * @property {Accuracy|null} accuracy
 * @property {[Accuracy, number]|null} audit
 * @property {{verdict: "begin"|"go-on"|"soon"|"stop", reasons: string[]}} advice
 */
/**
 * @template T
 * @typedef {{version: number, total: number, rows: T[]}} Page
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
