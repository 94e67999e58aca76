// Made by tests/page/types.mjs from the OpenAPI document of the server. Do not edit.

export interface paths {
    "/api/v1/backup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a backup in the folder of the project. */
        post: operations["backup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/beliefs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What is believed about every item, in six bytes each.
         * @description Arrays one after the other, by row: the class (u16, little-endian; 65535 for none), its probability (u8, 255 is 1), the
         *     evidence e as e/(1 + e) (u8, 255 is 1), the variance (u8, 255 is the largest of the pool), and marks (u8: 1 labelled, 2
         *     skipped, 4 excluded). Marks are those of the log of the moment, the rest is of the model's version, which is in the
         *     header x-dial-version. Before the model is ready classes are those of labels, and the rest is 0.
         */
        get: operations["beliefs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/calibration": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Labels left out in turn: how probable the predicted class was, and how often it was right. */
        get: operations["calibration"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sends `log` with the version of the log, `model` with the version the model has followed to, and `map` with what the map is
         *     made from, whenever one changes.
         */
        get: operations["changes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conflicts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Conflicting answers that need attention. */
        get: operations["conflicts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes decisions. The answer comes when they are on the disk; the model follows later. */
        post: operations["decide"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/disagreements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Items that annotators disagree about. */
        get: operations["disagreements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/estimates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How the project stands: share settled, accuracy with its interval, and whether to stop. */
        get: operations["estimates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All items with their labels and what is believed about them, as a file. It is sent while it is written. */
        get: operations["export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/export/example": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How to train a classifier on the CSV of this project, in Python. */
        get: operations["example"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The log, the latest first. */
        get: operations["history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/ids": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The ids of rows of the pool, in the order of the rows. */
        post: operations["ids"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Imports labels as one group. Contradictions are kept as labels of different annotators, and listed. */
        post: operations["import"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/item": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An item with all that is known about it. */
        get: operations["item"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The items with what is believed about them. */
        get: operations["items"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/launch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What opens the page in another browser, once: a link that is good for 15 minutes, or the path of a file that leads there
         *     for one minute. Only for programs of the owner.
         */
        post: operations["launch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/map": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Where every item lies on the map.
         * @description Two little-endian f32 by row, in [-1, 1]. The header x-dial-layout says what they are made from: components, at once;
         *     moving, on the way; neighbours, at the end. Whenever there is another one, `map` is sent with the changes.
         */
        get: operations["map"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/media": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The picture of an item, as a PNG. */
        get: operations["media_of"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Items to label next, leased to the annotator. */
        post: operations["next"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How many items that may be asked are believed to be of each class. */
        get: operations["open"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/passed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The items that were skipped or excluded, the latest first. */
        get: operations["passed"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Labels, classes met, share settled and accuracy as they came. */
        get: operations["progress"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/project": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The project: classes, counts, versions, and whether the model is well. */
        get: operations["project"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/scene": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The scene that the items are pixels of. */
        get: operations["info"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/scene/image": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A picture of the scene in three bands, as a PNG. */
        get: operations["image"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/scene/pixels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The pixel of every item: its number (row times width plus column) by row of the pool, as little-endian u32. */
        get: operations["pixels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The browsers that are signed in, the one used last first. */
        get: operations["sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Signs browsers out, that of who asks among them if it is named. Answers with those that are left. */
        post: operations["end_sessions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How the project stands: counts, answers that need attention, disagreements, estimates. */
        get: operations["status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/suspects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Labels at odds with the graph, the least probable first. */
        get: operations["suspects"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Whether to go on, and why. */
        Advice: {
            /** @description In sentences. */
            reasons: string[];
            /** @description In a word. */
            verdict: components["schemas"]["Verdict"];
        };
        /** @description An annotator and their labels. */
        AnnotatorCount: {
            /** @description Labels that count. */
            labels: number;
            /** @description The name; empty for labels that nobody claims. */
            name: string;
        };
        /** @description What is believed about an item. */
        Belief: {
            /**
             * Format: int32
             * @description The most probable class.
             */
            class: number;
            /**
             * Format: double
             * @description The amount of evidence, in labels.
             */
            evidence: number;
            /** @description The probability of each live class. */
            probabilities: components["schemas"]["Probability"][];
            /** @description Whether any label can say something about it. */
            reached: boolean;
            /**
             * Format: double
             * @description The variance of the Dirichlet distribution.
             */
            variance: number;
            /**
             * Format: int64
             * @description The version of the log that the belief was made from.
             */
            version: number;
        };
        /** @description An item of a list. */
        Believed: {
            /** @description What is believed. */
            belief: components["schemas"]["Belief"];
            /** @description The item. */
            id: string;
            /** @description The labels it has. */
            labels: components["schemas"]["LabelOf"][];
            /**
             * Format: int32
             * @description Its row in the pool.
             */
            row: number;
            /** @description How to show it; texts are cut to 400 characters. */
            show: components["schemas"]["Shown"];
        };
        /** @description Labels left out whose predicted class was about as probable: how probable, and how often right. */
        Bin: {
            /** @description How many labels. */
            count: number;
            /**
             * Format: double
             * @description The largest.
             */
            high: number;
            /**
             * Format: double
             * @description The smallest probability.
             */
            low: number;
            /**
             * Format: double
             * @description The mean of the probabilities: the share that should be right.
             */
            mean: number;
            /**
             * Format: double
             * @description The share that was right.
             */
            right: number;
        };
        /** @description How the probabilities keep their promise. */
        Calibration: {
            /** @description They in bins of equal counts, the least probable first. */
            bins: components["schemas"]["Bin"][];
            /** @description How many labels were left out, each in turn. */
            labels: number;
        };
        /** @description A class and its labels. */
        ClassCount: {
            /**
             * Format: int32
             * @description Its id.
             */
            id: number;
            /** @description Labels in which it weighs most. */
            labels: number;
            /** @description Its name. */
            name: string;
        };
        /** @description A class of the schema. */
        ClassInfo: {
            /** @description Its colour. */
            colour: string;
            /**
             * Format: int32
             * @description Its id, permanent.
             */
            id: number;
            /** @description The key that labels with it. */
            key: string;
            /** @description How many items have it as their label. */
            labels: number;
            /** @description Its name. */
            name: string;
        };
        /** @description An unresolved conflict. */
        Conflict: {
            /** @description Who gave it. */
            annotator: string;
            /** @description The code of the error it was answered with. */
            code: string;
            /** @description The item. */
            item: string;
            /** @description The label that stood, the label that came. */
            labels: [
                string,
                string
            ];
            /**
             * Format: int64
             * @description Its place in the log.
             */
            seq: number;
        };
        /** @description An item with labels that differ. */
        Contradiction: {
            /** @description The item. */
            item: string;
            /** @description Who says what. */
            labels: [
                string,
                string
            ][];
        };
        /** @description One decision. */
        Decision: {
            /** @description It decides between differing answers: while it stands, it alone counts for the item. */
            adjudicates?: boolean;
            /** @description The classes. */
            classes: components["schemas"]["Share"][];
            /** @description The item. */
            item: string;
            /** @enum {string} */
            kind: "label";
        } | {
            /** @description The item. */
            item: string;
            /** @enum {string} */
            kind: "skip";
        } | {
            /** @description The item. */
            item: string;
            /** @enum {string} */
            kind: "exclude";
        } | {
            /** @description The item. */
            item: string;
            /** @enum {string} */
            kind: "reopen";
        } | {
            /**
             * Format: int64
             * @description The group; none: the latest.
             */
            group?: number | null;
            /** @enum {string} */
            kind: "undo";
        } | {
            /**
             * Format: int64
             * @description The group; none: the latest.
             */
            group?: number | null;
            /** @enum {string} */
            kind: "redo";
        } | {
            /** @enum {string} */
            kind: "add-class";
            /** @description Its name. */
            name: string;
        } | {
            /**
             * Format: int32
             * @description The class.
             */
            class: number;
            /** @enum {string} */
            kind: "rename-class";
            /** @description Its new name. */
            name: string;
        } | {
            /**
             * Format: int32
             * @description The class that ends.
             */
            from: number;
            /**
             * Format: int32
             * @description The class that takes its labels.
             */
            into: number;
            /** @enum {string} */
            kind: "merge-class";
        } | {
            /**
             * Format: int32
             * @description The class.
             */
            class: number;
            /** @enum {string} */
            kind: "delete-class";
        } | {
            /** @description The classes, each once. */
            classes: number[];
            /** @enum {string} */
            kind: "order-classes";
        } | {
            /**
             * Format: int32
             * @description The class.
             */
            class: number;
            /** @description Its colour, as #rrggbb. */
            colour: string;
            /** @description The key that labels with it; empty: none. */
            key: string;
            /** @enum {string} */
            kind: "style-class";
        } | {
            /** @description The annotator. */
            annotator: string;
            /** @enum {string} */
            kind: "weight";
            /**
             * Format: double
             * @description A number above 0.
             */
            weight: number;
        } | {
            /**
             * Format: int64
             * @description Its place in the log.
             */
            conflict: number;
            /** @enum {string} */
            kind: "resolve";
        };
        /** @description An item that annotators call different things. */
        Disagreement: {
            /** @description The item. */
            id: string;
            /** @description What they call it. */
            labels: components["schemas"]["LabelOf"][];
        };
        /** @description What an answer would change. */
        Effect: {
            /**
             * Format: int32
             * @description The answer.
             */
            class: number;
            /** @description How many other items would get another class. */
            items: number;
        };
        /** @description Sessions that are to end. */
        EndSessions: {
            /** @description Their ids. */
            sessions: string[];
        };
        /** @description How a project stands. */
        Estimates: {
            accuracy: components["schemas"]["Interval"] | null;
            /** @description What to do. */
            advice: components["schemas"]["Advice"];
            /** @description The accuracy as measured on items drawn at random, and on how many. */
            audit: [
                {
                    /**
                     * Format: double
                     * @description The upper end.
                     */
                    high: number;
                    /**
                     * Format: double
                     * @description The lower end.
                     */
                    low: number;
                    /**
                     * Format: double
                     * @description The estimate.
                     */
                    mean: number;
                },
                number
            ] | null;
            /** @description All live classes. */
            classes: number;
            /** @description Classes with a label. */
            classes_met: number;
            /**
             * Format: double
             * @description Share of the items whose class changed over the last labels, if that is known.
             */
            flips: number | null;
            /** @description Number of items. */
            items: number;
            /** @description Items with a label that counts. */
            labelled: number;
            /** @description Why there is no such accuracy, where there is none: in a sentence. */
            no_accuracy: string | null;
            /**
             * Format: double
             * @description Share of the pool that is settled.
             */
            settled: number;
            /**
             * Format: int64
             * @description The place in the log that the belief was made from.
             */
            version: number;
        };
        /** @description How the project came to where it is. */
        History: {
            /** @description A point for every number of labels, while there are not too many. */
            points: components["schemas"]["Point"][];
            /**
             * Format: int64
             * @description The version of the log.
             */
            version: number;
        };
        /** @description A record of the log. */
        HistoryRow: {
            /** @description Who. */
            annotator: string;
            /** @description The classes of a label, also of one that was stored as a conflict. */
            classes?: components["schemas"]["Share"][];
            /**
             * Format: int64
             * @description The group it is undone by.
             */
            group: number;
            /** @description The item, if it is about one. */
            item: string | null;
            /** @description Some of the items of those decisions. */
            items?: string[];
            /** @description What, in a word. */
            kind: string;
            /** @description The item had all the answers it needs. */
            late: boolean;
            /**
             * Format: int64
             * @description The group that an undo or redo is about.
             */
            of?: number | null;
            /**
             * Format: int64
             * @description Its place.
             */
            seq: number;
            /** @description The rest in words. */
            text: string;
            /**
             * Format: int64
             * @description When: milliseconds since 1970.
             */
            time: number;
            /** @description Where one row stands for decisions that were made in one step: how many they are. */
            together?: number | null;
            /** @description It stands and can be taken back by its group. */
            undoable: boolean;
            /** @description It was taken back. */
            undone: boolean;
        };
        /** @description Labels to import: those of a file, or those that the pool itself has. */
        ImportRequest: {
            /** @description Classes that are not there are added. */
            add_classes?: boolean;
            /** @description The annotator of labels that come without one. */
            annotator?: string | null;
            /** @description Made by the sender. */
            key: string;
            /** @description The labels and marks. */
            labels?: components["schemas"]["ImportedLabel"][];
            /** @description Import the labels that the pool itself has, instead of `labels`. */
            of_pool?: boolean;
            /** @description Labels of items that are not in the pool are left out. */
            skip_unknown?: boolean;
            /** @description Where the labels come from. Labels of the pool come from the pool. */
            source?: string;
        };
        /** @description What became of an import. */
        Imported: {
            /** @description Classes that were added. */
            classes: string[];
            /** @description Items that now have labels that differ. */
            contradictions: components["schemas"]["Contradiction"][];
            /**
             * Format: int64
             * @description The group to undo it by, if anything was stored.
             */
            group: number | null;
            /** @description Labels that were there already. */
            known: number;
            /** @description Labels that were stored. */
            labels: number;
            /** @description Items that were marked as skipped or excluded. */
            marks: number;
            /** @description Ids that are not in the pool, whose labels were left out. */
            unknown: string[];
        };
        /** @description One label or mark to import. */
        ImportedLabel: {
            /** @description Its label, or its mark. */
            content: components["schemas"]["LabelContent"];
            /** @description The item. */
            item: components["schemas"]["ItemName"];
            /** @description Where it stands in its file, for messages. */
            place?: string;
        };
        /** @description An estimate with its 95 % interval. */
        Interval: {
            /**
             * Format: double
             * @description The upper end.
             */
            high: number;
            /**
             * Format: double
             * @description The lower end.
             */
            low: number;
            /**
             * Format: double
             * @description The estimate.
             */
            mean: number;
        };
        /** @description How an item is named: by its id, or by its row. */
        ItemName: {
            /** @description The id as it stands in the file. */
            id: string;
            /** @description The id without its first character, where that guards against formulas of spreadsheets. */
            unguarded?: string | null;
        } | {
            /** @description The row, from 0. */
            row: number;
            /** @description The number of rows of the file, which must be that of the pool. */
            rows: number;
        };
        /** @description An item with all that is known about it. */
        ItemView: {
            /** @description Drawn at random, to measure accuracy. */
            audit: boolean;
            belief: components["schemas"]["Belief"] | null;
            /** @description What else is known of it: names and values. */
            beside: [
                string,
                string
            ][];
            /** @description What each answer would change; empty while that is not known. */
            changes: components["schemas"]["Effect"][];
            /** @description Its id. */
            id: string;
            /** @description The labels it has. */
            labels: components["schemas"]["LabelOf"][];
            /**
             * Format: int64
             * @description Until when it is leased: milliseconds since 1970.
             */
            leased_until: number | null;
            /** @description The nearest labelled items. */
            nearest: components["schemas"]["Near"][];
            /**
             * Format: int32
             * @description Its row in the pool.
             */
            row: number;
            /**
             * Format: double
             * @description The acquisition's score of the item, if the item is a question of the model.
             */
            score: number | null;
            /** @description How to show it. */
            show: components["schemas"]["Shown"];
            /** @description Why it is asked, in words. */
            why: string | null;
        };
        /** @description What a file has about an item. */
        LabelContent: {
            /** @description It decides between differing answers. */
            adjudicates?: boolean;
            /** @description The annotator, if the file names one. */
            annotator?: string | null;
            /** @description Names of classes, with weights. */
            classes: [
                string,
                number
            ][];
            /** @enum {string} */
            kind: "label";
            /**
             * Format: int64
             * @description Its place among the labels of an export.
             */
            order?: number | null;
        } | {
            /** @enum {string} */
            kind: "mark";
            /** @description The mark. */
            mark: components["schemas"]["Mark"];
        };
        /** @description A label and who gave it. */
        LabelOf: {
            /** @description The annotator. */
            annotator: string;
            /** @description The classes. */
            classes: components["schemas"]["Share"][];
        };
        /** @description What is to be opened in a browser. */
        Launch: {
            /**
             * @description A file that leads to the link, instead of the link itself. The arguments of a program that opens a browser can be
             *     read by everybody on the machine.
             */
            file?: boolean;
        };
        /** @description What a backup holds. */
        Manifest: {
            /** @description The end of their chain, in hexadecimal. */
            chain: string;
            /**
             * Format: int64
             * @description How many events there are.
             */
            events: number;
            /** @description The file. */
            file: string;
            /** @description The id of the project. */
            project: string;
            /**
             * Format: int64
             * @description When the backup was made, or found: milliseconds since 1970.
             */
            time: number;
        };
        /**
         * @description What else was decided about an item.
         * @enum {string}
         */
        Mark: "skipped" | "excluded" | "gone";
        /** @description A labelled item that is near. */
        Near: {
            /**
             * Format: int32
             * @description Its class.
             */
            class: number;
            /**
             * Format: double
             * @description How far it is, in the metric of the graph.
             */
            distance: number;
            /** @description The item. */
            id: string;
            /** @description How to show it; texts are cut to 400 characters. */
            show: components["schemas"]["Shown"];
        };
        /** @description A wish for items to label. */
        Next: {
            /** @description Who asks. */
            annotator?: string;
            /** @description How many items; at most 50. */
            count?: number;
            /** @description Items that are on screen already. */
            except?: string[];
        };
        /** @description How many open items are believed to be of each class. */
        Open: {
            /** @description The classes, those with open items only. */
            classes: components["schemas"]["OpenOf"][];
            /**
             * Format: int64
             * @description The version of the log that the belief was made from.
             */
            version: number;
        };
        /** @description The open items that are believed to be of a class. */
        OpenOf: {
            /**
             * Format: int32
             * @description The class.
             */
            class: number;
            /** @description How many they are. */
            items: number;
        };
        /** @description A part of a list and how long it is. */
        Page_Believed: {
            /** @description Some of them. */
            rows: {
                /** @description What is believed. */
                belief: components["schemas"]["Belief"];
                /** @description The item. */
                id: string;
                /** @description The labels it has. */
                labels: components["schemas"]["LabelOf"][];
                /**
                 * Format: int32
                 * @description Its row in the pool.
                 */
                row: number;
                /** @description How to show it; texts are cut to 400 characters. */
                show: components["schemas"]["Shown"];
            }[];
            /** @description How many there are in all. */
            total: number;
            /**
             * Format: int64
             * @description The version of the log.
             */
            version: number;
        };
        /** @description A part of a list and how long it is. */
        Page_Disagreement: {
            /** @description Some of them. */
            rows: {
                /** @description The item. */
                id: string;
                /** @description What they call it. */
                labels: components["schemas"]["LabelOf"][];
            }[];
            /** @description How many there are in all. */
            total: number;
            /**
             * Format: int64
             * @description The version of the log.
             */
            version: number;
        };
        /** @description A part of a list and how long it is. */
        Page_HistoryRow: {
            /** @description Some of them. */
            rows: {
                /** @description Who. */
                annotator: string;
                /** @description The classes of a label, also of one that was stored as a conflict. */
                classes?: components["schemas"]["Share"][];
                /**
                 * Format: int64
                 * @description The group it is undone by.
                 */
                group: number;
                /** @description The item, if it is about one. */
                item: string | null;
                /** @description Some of the items of those decisions. */
                items?: string[];
                /** @description What, in a word. */
                kind: string;
                /** @description The item had all the answers it needs. */
                late: boolean;
                /**
                 * Format: int64
                 * @description The group that an undo or redo is about.
                 */
                of?: number | null;
                /**
                 * Format: int64
                 * @description Its place.
                 */
                seq: number;
                /** @description The rest in words. */
                text: string;
                /**
                 * Format: int64
                 * @description When: milliseconds since 1970.
                 */
                time: number;
                /** @description Where one row stands for decisions that were made in one step: how many they are. */
                together?: number | null;
                /** @description It stands and can be taken back by its group. */
                undoable: boolean;
                /** @description It was taken back. */
                undone: boolean;
            }[];
            /** @description How many there are in all. */
            total: number;
            /**
             * Format: int64
             * @description The version of the log.
             */
            version: number;
        };
        /** @description A part of a list and how long it is. */
        Page_Passed: {
            /** @description Some of them. */
            rows: {
                /** @description Who decided that. */
                annotator: string;
                /** @description Whether it is left out: not asked, and its labels do not count. Else it is only not asked. */
                excluded: boolean;
                /** @description The item. */
                id: string;
                /**
                 * Format: int64
                 * @description When: milliseconds since 1970.
                 */
                time: number;
            }[];
            /** @description How many there are in all. */
            total: number;
            /**
             * Format: int64
             * @description The version of the log.
             */
            version: number;
        };
        /** @description A part of a list and how long it is. */
        Page_Suspect: {
            /** @description Some of them. */
            rows: {
                /**
                 * Format: int32
                 * @description The class that the other labels predict.
                 */
                expected: number;
                /** @description The item. */
                id: string;
                /**
                 * Format: int32
                 * @description The class it was given.
                 */
                label: number;
                /** @description Who said what about it. */
                labels: components["schemas"]["LabelOf"][];
                /**
                 * Format: double
                 * @description The probability of the class it was given, by the other labels.
                 */
                probability: number;
            }[];
            /** @description How many there are in all. */
            total: number;
            /**
             * Format: int64
             * @description The version of the log.
             */
            version: number;
        };
        /** @description An item that was passed over. */
        Passed: {
            /** @description Who decided that. */
            annotator: string;
            /** @description Whether it is left out: not asked, and its labels do not count. Else it is only not asked. */
            excluded: boolean;
            /** @description The item. */
            id: string;
            /**
             * Format: int64
             * @description When: milliseconds since 1970.
             */
            time: number;
        };
        /** @description How the project stood at a moment. */
        Point: {
            accuracy: components["schemas"]["Interval"] | null;
            /** @description Classes with a label. */
            classes_met: number;
            /** @description Items with a label that counts. */
            labelled: number;
            /**
             * Format: double
             * @description Share of the pool that is settled.
             */
            settled: number;
            /**
             * Format: int64
             * @description The time of the last decision before it: milliseconds since 1970.
             */
            time: number;
            /**
             * Format: int64
             * @description The version of the log.
             */
            version: number;
        };
        /** @description A class and its probability. */
        Probability: {
            /**
             * Format: int32
             * @description The class.
             */
            class: number;
            /**
             * Format: double
             * @description Its probability.
             */
            probability: number;
        };
        /** @description What went wrong (RFC 9457). */
        Problem: {
            /** @description The stable code. */
            code: string;
            /**
             * Format: int64
             * @description The place in the log of an answer that was stored as a conflict.
             */
            conflict?: number;
            /** @description What, where, what was kept, what to do. */
            detail: string;
            /**
             * Format: int32
             * @description The exit code with which the command fails for the same reason.
             */
            exit: number;
            /** @description The label that stands and the label that came, where they contradict each other. */
            labels?: [
                string,
                string
            ];
            /**
             * Format: int32
             * @description In how many seconds the same request may be answered otherwise.
             */
            retry_after?: number;
            /**
             * Format: int32
             * @description The status of HTTP.
             */
            status: number;
            /** @description The kind of error in words. */
            title: string;
            /** @description `urn:dial:error:CODE`. */
            type: string;
        };
        /** @description The project. */
        ProjectInfo: {
            /** @description How questions are asked. */
            acquisition: string;
            /** @description Labels by annotator. */
            annotators: {
                [key: string]: number;
            };
            /** @description What is wrong with the model; labels are taken all the same. */
            banner: string | null;
            /** @description The live classes, in the order in which people see them. */
            classes: components["schemas"]["ClassInfo"][];
            /** @description Decisions that need attention. */
            conflicts: number;
            /** @description Its id. */
            id: string;
            /** @description What an item is, in a word. */
            item_word: string;
            /** @description Number of items. */
            items: number;
            /** @description Items that have a label in the pool itself, where some but not all have one, until all of them are decided. */
            known: number;
            /** @description Names among those labels that are almost those of other classes, with the others. */
            known_alike: [
                string,
                string
            ][];
            /** @description Items with a label that counts. */
            labelled: number;
            /** @description Whether the next question is known for every answer to the present one. */
            lookahead: boolean;
            /** @description Whether the model is ready: it needs two classes. */
            model_ready: boolean;
            /**
             * Format: int64
             * @description The version that the model has followed to.
             */
            model_version: number;
            /** @description Its name. */
            name: string;
            /** @description People who are to answer for each item. */
            overlap: number;
            /** @description The pool. */
            pool: string;
            /**
             * Format: int64
             * @description The version of the log.
             */
            version: number;
            /** @description Whether the features were made from texts or pictures without a model: one that embeds them tells more. */
            without_model: boolean;
        };
        /** @description Items to label, each leased to the annotator for a while. */
        Questions: {
            /** @description The items; fewer than asked for where there are no more. */
            items: components["schemas"]["ItemView"][];
            /**
             * Format: int64
             * @description The version that the model has followed to.
             */
            model_version: number;
            /**
             * Format: int64
             * @description The version of the log.
             */
            version: number;
        };
        /** @description What became of a submission. It is on the disk. */
        Receipt: {
            /**
             * Format: int64
             * @description The group to undo it by; none where nothing was stored that could be undone.
             */
            group: number | null;
            /** @description The same had been said before: nothing was stored. */
            known: boolean;
            /** @description The item had all the answers it needs. */
            late: boolean;
            /** @description The key was known: this is the first answer again. */
            repeated: boolean;
            /**
             * Format: int64
             * @description The place of its first record in the log; of the record that said the same before, if nothing was stored.
             */
            seq: number;
        };
        /** @description Rows of the pool. */
        Rows: {
            /** @description The rows; at most 100,000. */
            rows: number[];
        };
        /** @description A scene. */
        SceneInfo: {
            /** @description Bands of a spectrum. */
            bands: number;
            /** @description Rows. */
            height: number;
            /** @description What wavelengths are measured in; empty if nobody said. */
            unit: string;
            /** @description The wavelength of each band, or none. */
            wavelengths: number[];
            /** @description Columns. */
            width: number;
        };
        /** @description A browser that is signed in. */
        SessionRow: {
            /** @description The browser in words. */
            browser: string;
            /** @description The name of the session. It is no secret. */
            id: string;
            /**
             * Format: int64
             * @description When it signed in: milliseconds since 1970.
             */
            made: number;
            /** @description Whether it is that of who asks. */
            mine: boolean;
            /**
             * Format: int64
             * @description When it was last used.
             */
            used: number;
        };
        /** @description A class and how much of the answer it is. */
        Share: {
            /**
             * Format: int32
             * @description The class.
             */
            class: number;
            /**
             * Format: double
             * @description Its weight, above 0 and at most 1.
             * @default 1
             */
            weight: number;
        };
        /** @description How an item is shown. */
        Shown: {
            /** @enum {string} */
            kind: "picture";
            /** @description Where it is. */
            url: string;
        } | {
            /** @enum {string} */
            kind: "text";
            /** @description The text. */
            text: string;
        } | {
            /** @enum {string} */
            kind: "numbers";
            /** @description The names. */
            names: string[];
            /** @description The values; null where one is missing. */
            values: (number | null)[];
        } | {
            /** @description The column of the pixel. */
            column: number;
            /** @enum {string} */
            kind: "spectrum";
            /** @description The row of the pixel. */
            row: number;
            /** @description What they are measured in. */
            unit: string;
            /** @description The values. */
            values: (number | null)[];
            /** @description The wavelength of each, or none. */
            wavelengths: number[];
        };
        /** @description How a project stands. */
        Status: {
            /** @description The annotators. */
            annotators: components["schemas"]["AnnotatorCount"][];
            /** @description The live classes, in the order in which people see them. */
            classes: components["schemas"]["ClassCount"][];
            /** @description The unresolved conflicts. */
            conflicts: components["schemas"]["Conflict"][];
            /** @description Items whose labels differ. */
            disagreements: components["schemas"]["Contradiction"][];
            estimates: components["schemas"]["Estimates"] | null;
            /** @description Items that are left out. */
            excluded: number;
            /** @description The file that its features come from, if it is another one. */
            features_file?: string;
            /** @description Its id. */
            id: string;
            /** @description Number of items. */
            items: number;
            /** @description Items with a label that counts. */
            labelled: number;
            /** @description Labels that count, of all annotators. */
            labels: number;
            /** @description The file that its known labels come from, if it is another one. */
            labels_file?: string;
            /**
             * Format: int64
             * @description When the last one was stored: milliseconds since 1970.
             */
            last: number | null;
            /** @description Its name. */
            name: string;
            /** @description The pool. */
            pool: string;
            /** @description Items that are not asked again. */
            skipped: number;
            /**
             * Format: int64
             * @description Events of the log.
             */
            version: number;
        };
        /** @description What became of a submission, and what its sender may want to know beside that. */
        Stored: components["schemas"]["Receipt"] & {
            /** @description Who else has labelled the items, where that is so. */
            also_by?: string[];
            /** @description The items that an undo took back or a redo brought back; some of them, if they are very many. */
            items?: string[];
            /** @description How many items these are in all. */
            turned?: number;
            /**
             * Format: int64
             * @description The version of the log now.
             */
            version: number;
        };
        /** @description Decisions that are undone together. */
        Submission: {
            /** @description Who decides. */
            annotator?: string;
            /** @description What is decided. */
            decisions: components["schemas"]["Decision"][];
            /** @description Made by the sender when the item is shown, new for every submission. Sent again, it gets the first answer again. */
            key: string;
            /** @description Answers take the place of earlier ones of this annotator; an undo may take back the work of others. */
            replace?: boolean;
        };
        /** @description A label that the others contradict. */
        Suspect: {
            /**
             * Format: int32
             * @description The class that the other labels predict.
             */
            expected: number;
            /** @description The item. */
            id: string;
            /**
             * Format: int32
             * @description The class it was given.
             */
            label: number;
            /** @description Who said what about it. */
            labels: components["schemas"]["LabelOf"][];
            /**
             * Format: double
             * @description The probability of the class it was given, by the other labels.
             */
            probability: number;
        };
        /** @description Python that trains a classifier on an export. */
        TrainingExample: {
            /** @description The code: it reads the CSV of the project from the folder in which it runs. */
            code: string;
        };
        /**
         * @description Whether to go on.
         * @enum {string}
         */
        Verdict: "begin" | "go-on" | "soon" | "stop";
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    backup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description what was backed up, and where */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Manifest"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    beliefs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": number[];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    calibration: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Calibration"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    conflicts: {
        parameters: {
            query?: {
                /** @description How many to leave out at the beginning. */
                offset?: number;
                /** @description How many at most; up to 1000. */
                limit?: number;
                /** @description Only what contains this text. */
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_HistoryRow"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    decide: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Submission"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Stored"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    disagreements: {
        parameters: {
            query?: {
                /** @description How many to leave out at the beginning. */
                offset?: number;
                /** @description How many at most; up to 1000. */
                limit?: number;
                /** @description Only what contains this text. */
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Disagreement"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    estimates: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description estimates, or null before there are two classes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Estimates"] | null;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    export: {
        parameters: {
            query?: {
                /** @description csv, jsonl, npz, parquet, or maps of a scene. */
                format?: string;
                /** @description Only labels, no predictions. */
                labels_only?: boolean;
                /** @description Whether the columns of the pool come with it; by default those of tables and texts, unless only labels are wanted. */
                original_columns?: boolean;
                /** @description A preview: the number of rows to return, those with answers first, without the columns of the pool. */
                preview?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": number[];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    example: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description code that runs beside the CSV */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingExample"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    history: {
        parameters: {
            query?: {
                /** @description How many to leave out at the beginning. */
                offset?: number;
                /** @description How many at most; up to 1000. */
                limit?: number;
                /** @description Only what contains this text. */
                search?: string;
                /** @description One row for all decisions of one kind that were made in one step. */
                by_step?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_HistoryRow"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    ids: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Rows"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string[];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    import: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImportRequest"];
            };
        };
        responses: {
            /** @description what was stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Imported"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    item: {
        parameters: {
            query?: {
                /** @description The id. */
                id?: string;
                /** @description The row in the pool. */
                row?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ItemView"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    items: {
        parameters: {
            query?: {
                /** @description How many to leave out at the beginning. */
                offset?: number;
                /** @description How many at most; up to 1000. */
                limit?: number;
                /** @description Only items of this class, believed or told. */
                class?: number;
                /** @description In which order. */
                order?: "row" | "certain" | "doubtful";
                /**
                 * @description Only items that may be asked: without a label, not skipped, not excluded; with a class, only where a label says
                 *     anything about it.
                 */
                open?: boolean;
                /** @description Only items with a label. */
                labelled?: boolean;
                /** @description Only items whose id or text contains this, in large or small letters. */
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Believed"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    launch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Launch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    map: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": number[];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    media_of: {
        parameters: {
            query: {
                /** @description The id of the item. */
                id: string;
                /** @description The longest side, in pixels; at most 4096, and 2048 if it is left out. */
                side?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/png": number[];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    next: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Next"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Questions"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    open: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Open"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    passed: {
        parameters: {
            query?: {
                /** @description How many to leave out at the beginning. */
                offset?: number;
                /** @description How many at most; up to 1000. */
                limit?: number;
                /** @description Only what contains this text. */
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Passed"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    progress: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["History"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    project: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectInfo"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    info: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SceneInfo"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    image: {
        parameters: {
            query?: {
                /** @description The band shown red. */
                red?: number;
                /** @description The band shown green. */
                green?: number;
                /** @description The band shown blue. */
                blue?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/png": number[];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    pixels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": number[];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionRow"][];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    end_sessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndSessions"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionRow"][];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    status: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the project in numbers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Status"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    suspects: {
        parameters: {
            query?: {
                /** @description How many to leave out at the beginning. */
                offset?: number;
                /** @description How many at most; up to 1000. */
                limit?: number;
                /** @description Only what contains this text. */
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Suspect"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
