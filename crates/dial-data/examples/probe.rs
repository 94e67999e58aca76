//! probe
use dial_data::*;
use std::path::Path;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mut o = ReadOptions::default();
    let mut i = 3;
    while i + 1 < a.len() {
        match a[i].as_str() { "--labels" => o.labels_file = Some(a[i+1].clone().into()), "--variable" => o.variable = Some(a[i+1].clone()), _ => {} }
        i += 2;
    }
    match open(&a[1], &o, 0) {
        Err(e) => { println!("error[{}]: {e}", e.code()); std::process::exit(3) }
        Ok(p) => {
            println!("{} {} x {} {:?} {:?} classes {:?} ids {:?}", p.name, p.matrix.n, p.matrix.dim, p.picture, p.notes, p.truth.as_ref().map(|t| t.classes.len()), p.ids.as_ref().map(|i| i.len()));
            let x = match &p.matrix.values { Buffer::F32(v) => write::Saved::matrix(write::SavedData::F32(v), p.matrix.dim), Buffer::F64(v) => write::Saved::matrix(write::SavedData::F64(v), p.matrix.dim) };
            let labels: Vec<String> = p.truth.as_ref().map(|t| t.labels.iter().map(|l| l.map(|l| t.classes[l as usize].clone()).unwrap_or_default()).collect()).unwrap_or_default();
            write::write_npz(Path::new(&a[2]), &[("X", x), ("labels", write::Saved::vector(write::SavedData::Text(&labels)))]).unwrap();
        }
    }
}
