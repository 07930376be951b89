use super::*;

/// Calls `seen` for `shape` and all shapes in it, with how deep they stand.
fn walk(shapes: &Shapes, shape: &Shape, depth: usize, seen: &mut dyn FnMut(&Shape, usize)) {
    seen(shape, depth);
    let deeper = depth + 1;
    let mut fields = |fields: &[Field]| {
        for field in fields {
            walk(shapes, &field.shape, deeper, seen);
        }
    };
    match shape {
        Shape::Fields(all) => fields(all),
        Shape::Map(one) | Shape::List(one) | Shape::WhereObject(one) => {
            walk(shapes, one, deeper, seen);
        }
        Shape::Either(all) | Shape::All(all) => {
            for one in *all {
                walk(shapes, one, deeper, seen);
            }
        }
        Shape::Having(cases) => {
            for (_, one) in *cases {
                walk(shapes, one, deeper, seen);
            }
        }
        Shape::Tagged(tagged) => {
            for (_, one) in tagged.cases {
                walk(shapes, one, deeper, seen);
            }
        }
        Shape::Of(name) => match shapes.of(*name) {
            Definition::Absent => panic!("{name:?} is used where it is unknown"),
            Definition::Fields(all) => fields(all),
            Definition::Tagged(_, cases) => {
                for (_, one) in cases {
                    walk(shapes, one, deeper, seen);
                }
            }
            Definition::Shape(one) => walk(shapes, one, deeper, seen),
        },
        _ => {}
    }
}

fn each(seen: &mut dyn FnMut(Revision, &Shapes, &Shape, usize)) {
    for revision in Revision::ALL {
        let all = shapes(revision);
        for method in &all.methods {
            for shape in [&method.params, &method.result] {
                walk(all, shape, 0, &mut |shape, depth| {
                    seen(revision, all, shape, depth);
                });
            }
        }
    }
}

#[test]
fn shapes_end_and_name_only_what_is_there() {
    // A shape that contains itself would overflow this test.
    let mut deepest = 0;
    each(&mut |_, _, _, depth| deepest = deepest.max(depth));
    assert!((8..32).contains(&deepest), "{deepest}");
}

#[test]
fn alternatives_are_of_different_kinds() {
    each(&mut |revision, shapes, shape, _| {
        let Shape::Either(all) = shape else { return };
        let kind = |shape: &Shape| match shape {
            Shape::Of(name) => match shapes.of(*name) {
                Definition::Shape(shape) => shape.kind(),
                _ => Shape::Object.kind(),
            },
            shape => shape.kind(),
        };
        for (at, one) in all.iter().enumerate() {
            let kind_of_one = kind(one);
            assert!(kind_of_one.is_some(), "{revision}: {one:?}");
            let later = all[at + 1..].iter().map(kind);
            assert!(
                later.into_iter().all(|other| other != kind_of_one),
                "{all:?}"
            );
        }
    });
}

#[test]
fn a_table_adds_only_to_what_is_there() {
    let mut known = vec![Definition::Absent; Type::COUNT];
    for table in TABLES {
        for (name, change) in table.types {
            let before = &known[*name as usize];
            let fits = match change {
                Change::Is(_) => true,
                Change::Has(_) => matches!(before, Definition::Fields(_)),
                Change::HasCases(_) => matches!(before, Definition::Tagged(..)),
            };
            assert!(fits, "{name:?} {change:?}");
            if let Change::Is(shape) = change {
                known[*name as usize] = fresh(*shape);
            }
        }
    }
}

#[test]
fn every_method_has_its_shapes_from_its_first_revision_on() {
    use mcpreel_wire::mcp::methods::{self, METHODS};
    for method in METHODS {
        for usage in method.uses() {
            let found = shapes(usage.from).method(method.name);
            assert!(found.is_some(), "{} in {}", method.name, usage.from);
        }
    }
    for revision in Revision::ALL {
        for shape in &shapes(revision).methods {
            let method = methods::find(shape.name);
            let used = method.into_iter().flat_map(methods::Method::uses);
            let known = used.into_iter().any(|usage| usage.from <= revision);
            assert!(known, "{} in {revision}", shape.name);
        }
    }
}

#[test]
fn a_later_table_says_only_what_changed() {
    let [a, .., d, e] = Revision::ALL.map(shapes);
    let names = |shapes: &Shapes, name: Type| match shapes.of(name) {
        Definition::Fields(fields) => fields.iter().map(|field| field.name).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(names(a, Type::Tool), ["name", "description"]);
    assert_eq!(
        names(d, Type::Tool),
        [
            "name",
            "description",
            "annotations",
            "title",
            "_meta",
            "icons",
            "execution"
        ]
    );
    assert_eq!(names(d, Type::Root), names(e, Type::Root));
    assert!(!names(e, Type::CallToolParams).contains(&"task"));
}
